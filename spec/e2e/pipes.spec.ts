import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { promisify, stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, PROGRAM, RUNTIME } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';

/** 100,000 characters, each line another, in a thousand pieces; two bytes each in one of ten. */
const PIECES = Array.from({ length: 1000 }, (_, at) =>
  `${String(at).padStart(9, '0')}é`.repeat(10).slice(0, 99).concat('\n'),
);
const ANSWER = PIECES.join('');
const BYTES = Buffer.byteLength(ANSWER);

let server: ScriptedServer;
let home: Home;

beforeEach(async () => {
  server = await startScriptedServer(() => ({ pieces: PIECES }));
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
});

afterEach(async () => {
  await server.close();
  home.remove();
});

/** What a shell script with `hi` in it prints, and says. */
async function shell(script: string): Promise<readonly [string, string]> {
  const text = `hi() { "${RUNTIME}" "${PROGRAM}" "$@" </dev/null; }\n${script}`;
  const options = { env: home.env, cwd: home.work, timeout: 25_000 };
  const { stdout, stderr } = await promisify(execFile)('bash', ['-c', text], options);
  return [stdout, stderr];
}

const stored = async () => JSON.parse((await shell('hi history --json'))[0]);

/** The most memory a process has had, in KiB; 0 once it has ended. */
function peak(pid: number | undefined): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
}

/** Runs `hi ask` and reads that many bytes of its answer at a time. */
async function readBy(
  size: number,
): Promise<{ readonly text: string; readonly memory: number; readonly status: unknown }> {
  const child = spawn(RUNTIME, [PROGRAM, 'ask', 'x'], {
    env: home.env,
    cwd: home.work,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  const parts: Buffer[] = [];
  let memory = 0;
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    for (let at = 0; at < chunk.length; at += size) {
      parts.push(chunk.subarray(at, at + size));
      if (child.exitCode === null) memory = Math.max(memory, peak(child.pid));
      await turn();
    }
  }
  const [status] = await closed;
  return { text: Buffer.concat(parts).toString(), memory, status };
}

describe('an answer of 100,000 characters', () => {
  it('is 100,000 characters', () => expect(ANSWER).toHaveLength(100_000));

  it('into head is cut at its beginning without an error, and stored whole', async () => {
    const [out, err] = await shell('hi ask x | head -c 9; echo " $PIPESTATUS"');
    expect([out, err]).toEqual([`${ANSWER.slice(0, 9)} 0\n`, '']);
    const messages = await stored();
    expect(messages).toHaveLength(2);
    expect(messages[1]).toMatchObject({ content: [{ type: 'text', text: ANSWER }], stop_reason: 'end' });
  });

  it('into wc is complete, streamed, at once, or as JSON', async () => {
    for (const options of ['', '--no-stream', '--no-tools'])
      expect(await shell(`hi ask ${options} x | wc -c`)).toEqual([`${BYTES}\n`, '']);
    const [json] = await shell('hi ask --json x | cat');
    expect(JSON.parse(json).text).toBe(ANSWER);
    const [events] = await shell('hi ask -o stream-json x | tail -n 1');
    expect(JSON.parse(events).text).toBe(ANSWER);
  });

  it('into a file, and into a program that starts reading late, is complete', async () => {
    expect(await shell('hi ask x > answer; wc -c < answer')).toEqual([`${BYTES}\n`, '']);
    expect(await shell('hi ask x | (sleep 1; wc -c)')).toEqual([`${BYTES}\n`, '']);
    const slow = 'while IFS= read -r -N 1000 part; do printf %s "$part"; sleep 0.01; done; printf %s "$part"';
    expect((await shell(`hi ask x | (${slow})`))[0] === ANSWER).toBe(true);
  });

  it('into a slow reader is complete, and takes no more memory', async () => {
    const fast = await readBy(1_000_000);
    expect([fast.text === ANSWER, fast.status]).toEqual([true, 0]);
    const slow = await readBy(16);
    expect([slow.text === ANSWER, slow.status]).toEqual([true, 0]);
    // Of a hundred kilobytes of text, held a few times over, nothing is left in this noise.
    expect(slow.memory).toBeLessThan(fast.memory * 1.25);
  });

  it('continues the conversation after a reader that exited', async () => {
    await shell('hi ask one | head -c 10');
    await shell('hi ask two | true');
    expect(server.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(await stored()).toHaveLength(4);
  });
});

describe('piped input', () => {
  it('is sent whole: 100,000 characters before the question', async () => {
    home.write('long.txt', ANSWER);
    await shell(`"${RUNTIME}" "${PROGRAM}" ask "what is it?" < long.txt > /dev/null`);
    const content = server.requests[0]?.messages.at(-1)?.content;
    expect(content).toBe(`<stdin>\n${ANSWER}</stdin>\n\nwhat is it?`);
  });
});

describe('colour', () => {
  it('is used in a pipe only if it is forced, and then in the answer too', async () => {
    const run = promisify(execFile);
    const ask = async (env: Readonly<Record<string, string>>) => {
      const child = run(RUNTIME, [PROGRAM, 'ask', 'hello'], { env: { ...home.env, ...env } });
      child.child.stdin?.end();
      return (await child).stdout;
    };
    await server.close();
    server = await startScriptedServer(() => ({ text: '# Title\n\n**bold**' }));
    home.writeConfig(JSON.stringify({ provider: 'openai', model: 'scripted', api_base: server.base }));
    expect(await ask({})).toBe('# Title\n\n**bold**\n');
    expect(await ask({ FORCE_COLOR: '0' })).toBe('# Title\n\n**bold**\n');
    const styled = await ask({ FORCE_COLOR: '1' });
    expect(styled).toContain('\x1b[');
    expect(stripVTControlCharacters(styled)).toBe('# Title\n\n**bold**\n');
  });
});
