import type { Platform } from '../build/bun.js';
import { packageOf } from './manifests.js';

/**
 * A shell script that starts the executable. It finds the platform by the packages that npm installed, because `uname`
 * would be an extra process.
 */
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
# Below the launcher if npm nests packages, else next to it.
for packages in "$own/node_modules" "$own/.."; do
  for name in ${names.join(' ')}; do
    [ -x "$packages/$name/hi" ] && exec "$packages/$name/hi" "$@"
  done
done
[ -f "$own/dist/hi.js" ] && exec node "$own/dist/hi.js" "$@"
echo "hi: Found no program to start near '$own'. Install it again: npm install -g hi-chat-native" >&2
exit 127
`;
}
