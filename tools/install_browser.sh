#!/usr/bin/env sh
# A browser for the tests that drive one: Chromium, from the system's packages if it is not there. Without it those tests are skipped, and say so.
for name in chromium chromium-browser google-chrome google-chrome-stable; do
    command -v "$name" >/dev/null 2>&1 && exit 0
done
as_root=
[ "$(id -u)" -eq 0 ] || as_root="sudo -n"
if command -v apt-get >/dev/null 2>&1 && { [ -z "$as_root" ] || $as_root true 2>/dev/null; }; then
    echo "installing Chromium for the browser tests"
    export DEBIAN_FRONTEND=noninteractive
    $as_root apt-get update -qq >/dev/null && $as_root apt-get install -y -qq --no-install-recommends chromium >/dev/null && exit 0
fi
echo "no Chromium, and no way to install it here: tests in a browser are skipped"
exit 0
