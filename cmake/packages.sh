# Sourced by demo.sh and test.sh: what a build needs of Debian, and how to get what is missing. Run as root or with sudo.

# Package -> installed? Asks dpkg, so that nothing is fetched where nothing is missing.
missing_packages() {
  local package
  for package in "$@"; do
    if ! dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed'; then
      echo "$package"
    fi
  done
}

install_packages() {
  local missing as_root=()
  if ! command -v dpkg-query >/dev/null; then
    echo "note: not a Debian system; make sure that these are installed: $*" >&2
    return 0
  fi
  mapfile -t missing < <(missing_packages "$@")
  if [ "${#missing[@]}" -eq 0 ]; then return 0; fi
  echo "installing: ${missing[*]}" >&2
  if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq </dev/null
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}" </dev/null >&2
}

build_packages=(g++ gcc make cmake ninja-build libisl-dev libgmp-dev libyaml-cpp-dev nlohmann-json3-dev libcli11-dev libsqlite3-dev)
# The cross compiler and qemu run the kernels for Arm.
test_packages=(libgtest-dev python3-numpy gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user)

# Configures where needed and builds; the output is shown only where it fails. With no cache to draw on (a fresh machine),
# precompiled headers take half of the time.
build() {
  local folder=$1 log
  shift
  mkdir -p "$folder"
  log=$folder/build.log
  if ! { cmake -S . -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTILEOPT_PCH=ON "$@" && cmake --build "$folder"; } >"$log" 2>&1 </dev/null; then
    tail -n 60 "$log" >&2
    echo "the build failed; the whole log is $log" >&2
    return 1
  fi
}
