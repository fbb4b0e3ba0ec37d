#!/bin/sh
# Runs the weft command with the Node.js runtime that came with it, or the host's own where none did.
self=$0
while [ -L "$self" ]; do
  target=$(readlink "$self")
  case $target in
    /*) self=$target ;;
    *) self=${self%/*}/$target ;;
  esac
done
root=$(CDPATH='' cd -- "$(dirname -- "$self")/.." && pwd -P) || exit 1
node=$root/lib/node
[ -x "$node" ] || node=node
exec "$node" "$root/lib/weft.mjs" "$@"
