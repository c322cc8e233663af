import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { itWhere } from './where.js';

/** A folder on a file system that can stop answering, as that of a server does which is gone. */
export class HangingFolder {
  readonly path: string;
  readonly #home: string;
  readonly #server: ChildProcess;

  private constructor(home: string, path: string, server: ChildProcess) {
    [this.#home, this.path, this.#server] = [home, path, server];
  }

  /** Null where there is no bindfs, or it may not mount anything. */
  static async mount(): Promise<HangingFolder | null> {
    const home = mkdtempSync(join(tmpdir(), 'hi-hanging-'));
    const [real, path] = [join(home, 'real'), join(home, 'mounted')];
    for (const folder of [real, path]) mkdirSync(folder);
    const server = spawn('bindfs', ['-f', real, path], { stdio: 'ignore' });
    const isOver = new Promise<boolean>((resolve) => {
      for (const event of ['error', 'exit'] as const) server.once(event, () => resolve(true));
    });
    const folder = new HangingFolder(home, path, server);
    while (!isMounted(path)) {
      if (await Promise.race([isOver, pause(20, false)])) {
        folder.remove();
        return null;
      }
    }
    return folder;
  }

  /** From now on whoever looks into it waits. */
  hang(): void {
    this.#server.kill('SIGSTOP');
  }

  /** It answers again, also to those who waited. */
  goOn(): void {
    this.#server.kill('SIGCONT');
  }

  remove(): void {
    this.goOn();
    spawnSync('umount', ['-l', this.path]);
    this.#server.kill('SIGKILL');
    rmSync(this.#home, { recursive: true, force: true });
  }
}

const isMounted = (path: string): boolean => readFileSync('/proc/self/mounts', 'utf8').includes(` ${path} `);

const isThere = await HangingFolder.mount();
isThere?.remove();

/** `it` where there can be such a folder; elsewhere a skipped case. */
export const itWithHangingFolder = itWhere(isThere !== null, 'bindfs is not here, or may not mount anything');
