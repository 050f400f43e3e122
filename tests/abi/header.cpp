#include <tileopt.h>

int main() { return tileopt_abi_version() == TILEOPT_ABI_VERSION ? 0 : 1; }
