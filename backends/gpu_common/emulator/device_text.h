/// The files of device/, which are part of the library: kernels are compiled with them.
#pragma once

namespace tileopt::emulator {

const char* device_header_text();
const char* device_abi_text();
const char* device_stubs_text();

}  // namespace tileopt::emulator
