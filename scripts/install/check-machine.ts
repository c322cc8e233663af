import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { firstRun, type Said, sayOn, warningsOfOurs } from '../../spec/support/install.js';
import { startScriptedServer } from '../../spec/support/scripted-server.js';
import { openVendorHouse } from '../../spec/support/vendor-house.js';
import type { Prepared } from './places.js';

/** Prints a line about one check, and counts failures. */
export type Report = (isRight: boolean, what: string) => void;

/** Checks npm's output of an installation. */
export function checkInstalled(installed: Said, report: Report): void {
  report(installed.status === 0, `npm install: ${/added .*/.exec(installed.text)?.[0] ?? installed.text}`);
  const warnings = warningsOfOurs(installed);
  report(warnings.length === 0, `warnings about hi-chat: ${warnings.length === 0 ? 'none' : warnings.join('\n')}`);
  const others = installed.text.split('\n').filter((line) => /warn/i.test(line) && !warnings.includes(line));
  for (const line of others) console.log(`  -      ${line}`);
}

/** Checks the first conversation, in a terminal. */
export async function checkFirstRun(machine: Prepared, report: Report): Promise<void> {
  const { text } = await sayOn(machine, machine.hi, ['config', 'check']);
  const zstd = /^(?:ok|wrong) +zstd: (.*)/m.exec(text)?.[1];
  try {
    const { status, screen } = await firstRun(machine);
    report(status === 0, status === 0 ? `the first run is a conversation (zstd: ${zstd})` : screen);
  } catch (thrown) {
    report(false, String(thrown));
  }
}

/** Checks that a model's command runs in the available shell, and that the model is told which one that is. */
export async function checkCommand(machine: Prepared, shell: string, report: Report): Promise<void> {
  const command = { name: 'bash', args: { command: 'echo "in $0"' } };
  const server = await startScriptedServer((_request, index) =>
    index === 0 ? { calls: [command] } : { text: 'Done.' },
  );
  try {
    const env = { ...machine.env, OPENAI_API_KEY: 'sk-tools', OPENAI_BASE_URL: server.base };
    const { text } = await sayOn(machine, machine.hi, ['ask', '-y', 'which shell?'], env);
    const told = JSON.stringify(server.requests[0]?.tools).includes('Runs a command in sh');
    const result = String(server.requests[1]?.messages.at(-1)?.content);
    const isRight = result.includes(`in ${shell}\\n`) && told === (shell === 'sh');
    report(isRight, isRight ? `commands run in ${shell}, as the model is told` : `${text}\n${result}`);
  } finally {
    await server.close();
  }
}

/**
 * Adds turn number `turn` to the history that all installations share, and checks that all turns before it can still be
 * read.
 */
export async function checkSharedHistory(machine: Prepared, turn: number, report: Report): Promise<void> {
  await using house = await openVendorHouse('openai', { key: 'sk-shared', text: 'Noted.' });
  const places = ['config', 'data', 'cache'].map(
    (name) => [`HI_${name.toUpperCase()}_DIR`, join(machine.shared, name)] as const,
  );
  const key = { OPENAI_API_KEY: 'sk-shared', OPENAI_BASE_URL: house.base };
  const env = { ...machine.env, ...Object.fromEntries(places), ...key };
  const answered = await sayOn(machine, machine.hi, ['ask', `question ${turn}`], env);
  const { text } = await sayOn(machine, machine.hi, ['history', '--json', '-n', '100000'], env);
  const missing = Array.from({ length: turn + 1 }, (_, index) => `question ${index}`).filter(
    (question) => !text.includes(`"${question}"`),
  );
  const isRight = answered.status === 0 && missing.length === 0;
  const all = `reads the ${turn + 1} turns of all before it`;
  report(isRight, isRight ? all : `${answered.text}\nmissing: ${missing.join(', ')}`);
}

/** Creates the folders of that history. */
export function makeShared(folder: string): string {
  for (const name of ['config', 'data', 'cache']) mkdirSync(join(folder, name), { recursive: true });
  return folder;
}
