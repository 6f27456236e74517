#!/bin/sh
# Silent if file and service agree; on drift (exit 2), and when the service cannot be read, it prints why.
set -eu
cd "$(dirname "$0")"

if [ -n "$(find -L setpoint.env -perm /077)" ]; then
  echo "$PWD/setpoint.env holds keys, and others can read it: chmod 600 $PWD/setpoint.env"
  exit 1
fi
code=0
report=$(setpoint drift --dotenv setpoint.env --no-color 2>&1) || code=$?
if [ "$code" -ne 0 ]; then
  printf '%s\n\nsetpoint drift ended with %s.\n' "$report" "$code"
fi
exit "$code"
