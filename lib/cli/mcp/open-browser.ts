import { spawn } from 'node:child_process';
import { ownProgram } from '../../own-programs.js';
import type { World } from '../base/world.js';

/** A program and the arguments that stand before the address. */
type Opener = readonly [program: string, ...args: readonly string[]];

/** The programs that open an address in the browser of the user, in the order in which they are tried. */
function openers({ env }: World, platform: NodeJS.Platform): readonly Opener[] {
  if (platform === 'darwin') return [['open']];
  if (platform === 'win32') return [['rundll32', 'url.dll,FileProtocolHandler']];
  const hasScreen = [env.DISPLAY, env.WAYLAND_DISPLAY, env.WSL_DISTRO_NAME, env.TERMUX_VERSION].some(Boolean);
  return hasScreen ? [['xdg-open'], ['wslview'], ['termux-open-url']] : [];
}

/** Opens a web address in the browser, without a shell. Resolves to whether a program for that was there. */
export async function openBrowser(world: World, address: URL, platform = process.platform): Promise<boolean> {
  // An address of another kind would open another program.
  if (!['http:', 'https:'].includes(address.protocol)) return false;
  for (const [program, ...args] of openers(world, platform))
    if (await isStarted(program, [...args, address.href], world)) return true;
  return false;
}

function isStarted(program: string, args: readonly string[], { env }: World): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(ownProgram(program, env), args, { env: { ...env }, detached: true, stdio: 'ignore' });
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
    child.once('error', () => resolve(false));
  });
}
