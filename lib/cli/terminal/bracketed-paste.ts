import type { OutputStream } from '../../screen/output-stream.js';

const ON = '\x1b[?2004h';
const OFF = '\x1b[?2004l';

/** Lets the terminal mark what is pasted while `ask` asks, so that a paste can be told from keys. Off again on every way out of the process. */
export async function withBracketedPaste<Answer>(output: OutputStream, ask: () => Promise<Answer>): Promise<Answer> {
  const on = (): unknown => output.write(ON);
  const off = (): unknown => output.write(OFF);
  on();
  // A shell that was used meanwhile has switched it off.
  process.on('SIGCONT', on).on('exit', off);
  try {
    return await ask();
  } finally {
    process.off('SIGCONT', on).off('exit', off);
    off();
  }
}
