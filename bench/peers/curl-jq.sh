#!/bin/sh
# What `setpoint drift` does, by curl and jq: reads the settings of each environment of fleet.json, eight at a time, and prints what
# differs from what is declared. Ends with 2 if something does. It neither validates nor guards anything.
set -eu

compare() {
  printf 'header = "X-Session-API-Key: %s"\n' "$SETPOINT_API_KEY" |
    curl --config - --silent --show-error --fail "$ORIGIN/$1/api/settings" |
    jq --raw-output --arg name "$1" --slurpfile fleet fleet.json '
      . as $stored
      | $fleet[0].environments[$name] | to_entries[]
      | select($stored[.key] != .value)
      | "\($name) \(.key): \($stored[.key]) in place of \(.value)"'
}

if [ "${1-}" = one ]; then
  compare "$2"
  exit 0
fi
ORIGIN=$(jq --raw-output .origin fleet.json)
export ORIGIN
drift=$(jq --raw-output '.environments | keys[]' fleet.json | xargs -P 8 -I '{}' sh "$0" one '{}')
if [ -n "$drift" ]; then
  echo "$drift"
  exit 2
fi
