#!/bin/sh
# Installs the weft agent on a Linux host and joins the host to a network. Running it again upgrades the agent and keeps
# the host's identity; "weft uninstall" takes everything back.
#
# The control plane fills in its own address and the digests of its agent archives; there is no secret in here.
set -eu
umask 022

SERVER_URL='@SERVER_URL@'
# Architecture and SHA-256 digest of each archive, one per line.
ARCHIVES='@ARCHIVES@'

UNIT=/etc/systemd/system/weft-agent.service
LINK=/usr/local/bin/weft

key='' prefix=/opt/weft state=/var/lib/weft name='' interface='' port='' service=auto may_link=no
fresh='' old='' arch='' digest=''

usage() {
  cat <<TEXT
Usage: sh install.sh [KEY] [OPTIONS]

Installs the weft agent and joins this host with the enrolment key KEY. Without KEY it only installs or upgrades.

  --prefix DIR      where the program goes (default /opt/weft); with another folder no link is made in $LINK
  --state-dir DIR   where keys and the network map are kept (default /var/lib/weft)
  --name NAME       name of this host in the network (default: its host name)
  --interface NAME  network interface (default weft0)
  --port NUMBER     UDP port (default 51820)
  --no-service      do not set up a systemd service; the daemon runs by itself until the next boot
TEXT
}

main() {
  read_options "$@"
  become_root "$@"
  trap cleanup EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  step 1 'checking this host'
  check_host
  step 2 "downloading the agent from $SERVER_URL"
  download
  step 3 "installing to $prefix"
  try_out
  put_in_place
  start
}

step() { printf '[%s/4] %s\n' "$1" "$2"; }
say() { printf '      %s\n' "$*"; }
fail() {
  printf 'weft: %s\n' "$*" >&2
  exit 1
}

read_options() {
  while [ $# -gt 0 ]; do
    case $1 in
      --prefix | --state-dir | --name | --interface | --port)
        [ $# -ge 2 ] || fail "$1 needs a value (--help lists the options)"
        case $1 in
          --prefix) prefix=$2 ;;
          --state-dir) state=$2 ;;
          --name) name=$2 ;;
          --interface) interface=$2 ;;
          --port) port=$2 ;;
        esac
        shift
        ;;
      --no-service) service=no ;;
      -h | --help)
        usage
        exit 0
        ;;
      -*) fail "unknown option $1 (--help lists the options)" ;;
      *)
        [ -z "$key" ] || fail "one key only; \"$1\" is too much"
        key=$1
        ;;
    esac
    shift
  done
  check_path --prefix "$prefix"
  check_path --state-dir "$state"
  prefix=${prefix%/}
  if [ "$prefix" = /opt/weft ]; then may_link=yes; fi
  state=${state%/}
}

# Paths end up in a unit file and in a JSON file, where anything else would have to be escaped.
check_path() {
  case $2 in
    /?*) ;;
    *) fail "$1 needs an absolute path, not \"$2\"" ;;
  esac
  case $2 in
    *[!A-Za-z0-9/._@+-]* | */../* | */..) fail "$1 takes letters, digits and / . _ @ + - only: \"$2\"" ;;
  esac
}

become_root() {
  [ "$(id -u)" -ne 0 ] || return 0
  [ -f "$0" ] || fail 'run this as root'
  for tool in sudo doas; do
    if command -v "$tool" >/dev/null 2>&1; then exec "$tool" sh "$0" "$@"; fi
  done
  fail 'run this as root: neither sudo nor doas is here'
}

check_host() {
  [ "$(uname -s)" = Linux ] || fail "weft runs on Linux only so far; this is $(uname -s)"
  machine=$(uname -m)
  case $machine in
    x86_64 | amd64) arch=x64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) fail "there is no agent for the processor $machine" ;;
  esac
  while read -r known sum; do
    [ "$known" != "$arch" ] || digest=$sum
  done <<LIST
$ARCHIVES
LIST
  [ -n "$digest" ] || fail "this server has no agent for $machine; it has: $(printf '%s\n' "$ARCHIVES" | cut -d ' ' -f 1 | tr '\n' ' ')"
  for tool in tar gzip sha256sum mktemp cut tr; do
    command -v "$tool" >/dev/null 2>&1 || fail "this needs $tool; install it and run the line again"
  done
  command -v curl >/dev/null 2>&1 || command -v wget >/dev/null 2>&1 || fail 'this needs curl or wget'
  [ -c /dev/net/tun ] || modprobe tun >/dev/null 2>&1 || true
  [ -c /dev/net/tun ] || fail '/dev/net/tun is missing: load the kernel module "tun", or give the container that device'
  mkdir -p "${prefix%/*}/"
  # Symbolic links on the way are resolved once, so that the program recognises its own folder.
  prefix=$(cd -P "${prefix%/*}/" && pwd -P)/${prefix##*/}
  prefix=/${prefix#"${prefix%%[!/]*}"}
  if [ -e "$prefix" ] && [ ! -f "$prefix/install.json" ] && [ -n "$(ls -A "$prefix")" ]; then
    fail "$prefix exists and does not come from this script; choose another folder with --prefix"
  fi
  if [ "$service" = auto ] && [ -d /run/systemd/system ]; then service=yes; fi
  [ "$service" != yes ] || [ ! -f "$UNIT" ] || grep -qF "ExecStart=$prefix/bin/weft " "$UNIT" ||
    fail "$UNIT belongs to another installation of weft; uninstall that first, or use --no-service"
}

download() {
  fresh=$(mktemp -d "${prefix%/*}/.weft-new.XXXXXX")
  file=$fresh/archive.tar.gz
  url="$SERVER_URL/agent/weft-agent-linux-$arch.tar.gz?sha256=$digest"
  if ! command -v curl >/dev/null 2>&1; then
    wget -q -O "$file" "$url" || no_download "$url"
  elif [ -t 2 ]; then
    curl -f -# -o "$file" "$url" || no_download "$url"
  else
    curl -fsS -o "$file" "$url" || no_download "$url"
  fi
  sum=$(sha256sum "$file")
  [ "${sum%% *}" = "$digest" ] || fail "the downloaded archive is not the one that the server announced (SHA-256 ${sum%% *})"
  tar -xzf "$file" -C "$fresh" || fail "cannot unpack the archive below ${prefix%/*} (is the disk full?)"
  rm -f "$file"
}

no_download() { fail "cannot download $1; if the server was upgraded meanwhile, take a new line from the dashboard"; }

# Nothing that works is replaced by something that does not run here.
try_out() {
  node=$fresh/lib/node
  if [ ! -x "$node" ]; then
    node=$(command -v node) || fail 'this needs Node.js 20.19 or newer on the host: the archive of this server comes without one'
  fi
  # shellcheck disable=SC2016 # the dollar signs are JavaScript's
  said=$("$node" -e '
    const [major, minor] = process.versions.node.split(".").map(Number);
    if (major < 20 || (major === 20 && minor < 19)) throw new Error(`Node.js ${process.version} is older than 20.19`);
    const folder = process.argv[1];
    for (const name of require("fs").readdirSync(folder)) if (name.endsWith(".node")) require(`${folder}/${name}`);
  ' "$fresh/lib" 2>&1) || fail "the agent does not run on this host; its C library may be too old, or another one than glibc: $said"
  "$fresh/bin/weft" version >/dev/null || fail 'the agent does not run on this host'
}

put_in_place() {
  link=null unit=null
  if [ "$may_link" = yes ]; then
    if [ -L "$LINK" ] || [ ! -e "$LINK" ]; then link="\"$LINK\""; else say "$LINK is something else and stays; call $prefix/bin/weft"; fi
  fi
  if [ "$service" = yes ]; then unit="\"$UNIT\""; fi
  printf '{"version":1,"prefix":"%s","stateDirectory":"%s","link":%s,"unit":%s}\n' "$prefix" "$state" "$link" "$unit" >"$fresh/install.json"
  chmod 755 "$fresh"
  if [ -e "$prefix" ]; then
    old=${prefix%/*}/.weft-old.$$
    mv "$prefix" "$old"
  fi
  mv "$fresh" "$prefix"
  fresh=''
  if [ -n "$old" ]; then rm -rf "$old"; fi
  if command -v restorecon >/dev/null 2>&1; then restorecon -R "$prefix" >/dev/null 2>&1 || true; fi
  if [ "$link" != null ]; then
    mkdir -p "${LINK%/*}"
    ln -sf "$prefix/bin/weft" "$LINK"
  fi
  if [ "$service" = yes ]; then write_unit; fi
}

write_unit() {
  cat >"$UNIT" <<TEXT
[Unit]
Description=weft mesh network
Wants=network-online.target modprobe@tun.service
After=network-online.target modprobe@tun.service
ConditionPathExists=$state/membership.json
StartLimitIntervalSec=0

[Service]
# The operator's own file, if there is one; neither written nor removed here.
EnvironmentFile=-/etc/weft/agent.env
ExecStart=$prefix/bin/weft up --foreground --state-dir $state
# Gives the host its resolver back when the agent was killed before it could.
ExecStopPost=-$prefix/bin/weft restore-names $state/resolver-backup.json
Restart=always
RestartSec=2
# The host belongs to no network: trying again changes nothing.
RestartPreventExitStatus=3
TimeoutStopSec=10
# To answer names on port 53; the last one is for "weft profile": kernel stacks, also where unprivileged profiling is forbidden.
CapabilityBoundingSet=CAP_NET_ADMIN CAP_NET_RAW CAP_NET_BIND_SERVICE CAP_SYS_NICE CAP_PERFMON
NoNewPrivileges=yes
ReadWritePaths=-$state -/etc/resolv.conf
ProtectSystem=strict
ProtectHome=read-only
PrivateTmp=yes
DevicePolicy=closed
DeviceAllow=/dev/net/tun rw
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_NETLINK AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service perf_event_open
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
TEXT
  systemctl daemon-reload
  systemctl enable --quiet weft-agent.service
}

is_member() { [ -f "$state/membership.json" ]; }

start() {
  if is_member; then
    step 4 'starting the new version; the host keeps its identity'
    grep -qF "\"$SERVER_URL\"" "$state/membership.json" ||
      say 'this host is a member through another server; "weft leave" ends that, then run the line again'
    # It may not be running; whatever runs is replaced.
    "$prefix/bin/weft" down --state-dir "$state" >/dev/null 2>&1 || true
    "$prefix/bin/weft" up --state-dir "$state"
  elif [ -n "$key" ]; then
    step 4 'joining the network'
    set -- join "$SERVER_URL" "$key" --state-dir "$state"
    [ -z "$name" ] || set -- "$@" --name "$name"
    [ -z "$interface" ] || set -- "$@" --interface "$interface"
    [ -z "$port" ] || set -- "$@" --port "$port"
    "$prefix/bin/weft" "$@"
  else
    step 4 'no key was given, so this host joins nothing yet'
    say "\"$(command_name) join $SERVER_URL KEY\" makes this host a member"
    return 0
  fi
  [ "$service" = yes ] || say "no service was set up: after a boot, start the daemon again with \"$(command_name) up\""
  say "\"$(command_name) status\" shows the network, \"$(command_name) uninstall\" takes everything back"
}

command_name() { if [ "$may_link" = yes ] && [ -L "$LINK" ]; then echo weft; else echo "$prefix/bin/weft"; fi; }

cleanup() {
  if [ -n "$old" ] && [ -d "$old" ] && [ ! -e "$prefix" ]; then mv "$old" "$prefix"; fi
  if [ -n "$fresh" ]; then rm -rf "$fresh"; fi
  # The join line put this script into a file of mktemp's; nobody needs it any more.
  case $0 in
    */tmp.?????? | */tmp.??????????) rm -f -- "$0" ;;
  esac
}

main "$@"
