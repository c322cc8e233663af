import type { OutputStream } from '../../screen/output-stream.js';
import type { OutputStreams } from '../../screen/screen.js';
import type { World } from './world.js';

/** The output streams for the screen. Links are not for the Linux console and Emacs, which print unknown sequences. Honours NO_COLOR and FORCE_COLOR. */
export function outputStreams(world: World): OutputStreams {
  const { stdout, stderr, env } = world;
  return {
    out: stdout,
    err: stderr,
    outIsTerminal: stdout.isTTY === true,
    errIsTerminal: stderr.isTTY === true,
    colour: { out: hasColour(stdout, env), err: hasColour(stderr, env) },
    links: hasColour(stdout, env) && !/^(?:linux|eterm)/.test(env.TERM ?? ''),
    columns: () => stdout.columns ?? stderr.columns ?? 80,
  };
}

/** Whether text on that stream may be coloured. */
export function hasColour(stream: OutputStream, env: World['env']): boolean {
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '') return env.FORCE_COLOR !== '0';
  if (env.NO_COLOR || isDumb(env)) return false;
  return stream.isTTY === true;
}

/** Whether the terminal can only print: no colour and no cursor movement. */
export function isDumb(env: World['env']): boolean {
  return env.TERM === 'dumb';
}

/** Whether no terminal is involved, as in a script that nobody watches. */
export function isUnattended({ stdinIs, stdout, stderr }: World): boolean {
  return stdinIs !== 'terminal' && stdout.isTTY !== true && stderr.isTTY !== true;
}

/** Whether the user can be asked before a tool runs: on a terminal that can draw a menu. */
export function canApprove(world: World): boolean {
  return world.stderr.isTTY === true && world.stdinIs === 'terminal' && !isDumb(world.env);
}

/** Writes texts one after the other and waits for each, so that nothing piles up in memory. Stops where the reader leaves. */
export async function writeAll(to: OutputStream, texts: AsyncIterable<string>): Promise<void> {
  // Only a write's own callback reports that the reader left: Node's stdout forgets every error at once.
  let open = true;
  for await (const text of texts) {
    await new Promise<void>((resolve) => {
      to.write(text, (error) => {
        open &&= !error;
        resolve();
      });
    });
    if (!open) return;
  }
}
