import type { Platform } from '../build/bun.js';
import { packageOf } from './manifests.js';

/** `uname -s` and `uname -m` are processes; which packages npm installed says the same, for it installs those of the platform. */
export function launcherScript(platforms: readonly Platform[]): string {
  const names = platforms.filter((platform) => !platform.startsWith('windows')).map(packageOf);
  return `#!/bin/sh
# Starts the executable that npm installed for this platform, else the JavaScript on Node.
own=$0
while [ -L "$own" ]; do
  target=$(readlink "$own") || exit 127
  case $target in
    /*) own=$target ;;
    *) own=\${own%/*}/$target ;;
  esac
done
own=\${own%/*}
# Below the launcher where npm nests packages, beside it where it does not.
for packages in "$own/node_modules" "$own/.."; do
  for name in ${names.join(' ')}; do
    [ -x "$packages/$name/hi" ] && exec "$packages/$name/hi" "$@"
  done
done
[ -f "$own/dist/hi.js" ] && exec node "$own/dist/hi.js" "$@"
echo "hi: Nothing to start beside '$own'. Install it again: npm install -g hi-chat-native" >&2
exit 127
`;
}
