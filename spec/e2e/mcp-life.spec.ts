import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type McpHouse, mcpHouse, offeredTools, toolResults } from '../support/mcp-house.js';
import { png } from '../support/pictures.js';
import { runProgram } from '../support/program.js';
import { type Scenario, textTool } from '../support/tool-server.js';

let house: McpHouse;
afterEach(() => house?.close());

const ADD = { name: 'mcp__notes__add', args: { text: 'milk' } };
const ALLOWED = { tools: { permissions: { allow: ['mcp__notes__*'] } } };
const PNG = png(3, 2);
const withAdd = (result: object, more: Scenario = {}): Scenario => ({
  tools: [textTool('add')],
  results: { add: result },
  ...more,
});

/** The server behind a shell that waits for it, as `npx` does. */
const behindShell = (): object => {
  const { command, args } = house.server.entry;
  return { command: 'sh', args: ['-c', `'${command}' '${args.join("' '")}'; :`] };
};

/** Waits until the server was asked to do something. */
async function untilCalled(): Promise<void> {
  while (!house.server.requests().some(({ method }) => method === 'tools/call')) await sleep(20);
}

async function untilNoneRuns(limit: number): Promise<number> {
  const begin = Date.now();
  while (house.running().length > 0 && Date.now() - begin < limit) await sleep(20);
  return Date.now() - begin;
}

describe('a server', () => {
  it('runs as long as the session, one process for all calls', async () => {
    house = await mcpHouse({ tools: [textTool('add')] }, [ADD, ADD, ADD], ALLOWED);
    expect(await house.ask()).toMatchObject({ status: 0, called: 3 });
    expect(house.server.starts()).toHaveLength(1);
    expect(house.running()).toEqual([]);
  });

  it('that ignores signals, started by a shell, ends with the session all the same', async () => {
    house = await mcpHouse({ tools: [textTool('add')], stubborn: true }, [ADD], ALLOWED);
    house.configure(ALLOWED, behindShell());
    const run = await house.ask();
    expect(run).toMatchObject({ status: 0, called: 1 });
    expect(house.running()).toEqual([]);
  });

  it('does not outlive a killed hi', async () => {
    house = await mcpHouse(withAdd({ hangs: true }, { stubborn: true }), [ADD], ALLOWED);
    house.configure(ALLOWED, behindShell());
    await house.ask([], {
      during: (hi) => void untilCalled().then(() => hi.kill('SIGKILL')),
    });
    expect(await untilNoneRuns(5000)).toBeLessThan(3000);
  });

  it('that crashes during a call is a failed call, and is started again for the next one', async () => {
    house = await mcpHouse(withAdd({ exits: 7 }), [ADD, ADD], ALLOWED);
    const run = await house.ask();
    expect(run).toMatchObject({ status: 0, stdout: 'done\n', called: 2 });
    expect(house.server.starts()).toHaveLength(2);
    expect(toolResults(house)[0]).toContain("The server 'notes'");
  });

  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: the form of variables in mcpServers
  it('gets six variables and those of its entry, expanded, and no key', async () => {
    const env = { FROM: '${OWN_NAME}', OTHER: '${NOT_SET:-else}', PRINTED: '!echo printed' };
    house = await mcpHouse({ tools: [textTool('add')] }, [ADD], { ...ALLOWED, api_key: 'a-key-of-the-file' }, { env });
    await house.ask([], { env: { OWN_NAME: 'mine', OPENAI_API_KEY: 'sk-secret', GITHUB_TOKEN: 'ghp_secret' } });
    const seen = house.server.starts()[0]?.env ?? {};
    const { HI_COMMAND: _mark, HI_BY_MODEL: _model, ...others } = seen;
    expect(others).toEqual({
      HOME: house.home.folder,
      PATH: process.env.PATH,
      TERM: 'xterm-256color',
      FROM: 'mine',
      OTHER: 'else',
      PRINTED: 'printed',
    });
  });

  it('with a value that cannot be expanded is named with the variable', async () => {
    house = await mcpHouse({ tools: [textTool('add')] }, [], {}, { env: { TOKEN: '${NOT_SET_AT_ALL}' } });
    const run = await house.ask();
    expect(run.status).toBe(0);
    expect(run.stderr).toContain("The server 'notes': The environment variable NOT_SET_AT_ALL is not set.");
  });
});

// biome-ignore-end lint/suspicious/noTemplateCurlyInString: until here

describe('what a server sends', () => {
  it('about the use of its tools goes with every request, as its own words', async () => {
    const instructions = `Use add for notes.\u200b${'x'.repeat(5000)}`;
    house = await mcpHouse({ tools: [textTool('add')], instructions }, []);
    await house.ask();
    const system = JSON.stringify(house.model.server.requests[0]?.messages.filter(({ role }) => role === 'system'));
    expect(system).toContain('<server name=\\"notes\\">\\nUse add for notes.x');
    expect(system.length).toBeLessThan(3000);
  });

  it('about new tools applies from the next turn on, whether or not it declared that; they come last', async () => {
    const changes = { tools: [textTool('zebra'), textTool('add'), textTool('ant')] };
    house = await mcpHouse(withAdd({ changes, content: [] }, { tools: [textTool('add')] }), [ADD], ALLOWED);
    await runProgram(house.home, ['chat'], { input: 'one\ntwo\n' });
    const names = (index: number) => offeredTools(house, index).filter((name) => name.startsWith('mcp__'));
    expect(names(0)).toEqual(['mcp__notes__add']);
    expect(names(1)).toEqual(['mcp__notes__add']);
    expect(names(2)).toEqual(['mcp__notes__add', 'mcp__notes__zebra', 'mcp__notes__ant']);
  });

  it('about its progress is in the events, with the name of its tool', async () => {
    const content = [{ type: 'text', text: 'at last' }];
    house = await mcpHouse(withAdd({ progress: ['half', 'all'], wait: 60, content }), [ADD], ALLOWED);
    const { stdout } = await house.ask(['-o', 'stream-json']);
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events).toContainEqual(expect.objectContaining({ type: 'tool-start', server: 'notes' }));
    const progress = events.filter(({ type }) => type === 'tool-progress');
    // What comes in one piece with the result is not shown any more.
    expect(['1 half', '2 all']).toContain(progress.at(-1)?.text);
  });
});

describe('a call', () => {
  it('may take longer than its limit as long as the server reports progress', async () => {
    const progress = ['one', 'two', 'three', 'four'];
    const content = [{ type: 'text', text: 'at last' }];
    house = await mcpHouse(withAdd({ progress, wait: 400, content }), [ADD], ALLOWED, { timeout_ms: 1000 });
    await house.ask();
    expect(JSON.parse(toolResults(house)[0] ?? '')).toEqual({ content: 'at last' });
  });

  it('that is silent for too long is a failed call', async () => {
    house = await mcpHouse(withAdd({ hangs: true }), [ADD], ALLOWED, { timeout_ms: 500 });
    const run = await house.ask();
    expect(run).toMatchObject({ status: 0, stdout: 'done\n' });
    expect(toolResults(house)[0]).toContain('timed out');
  });

  it('is cancelled at the server by Ctrl-C, without hi waiting for it', async () => {
    house = await mcpHouse(withAdd({ hangs: true }, { stubborn: true }), [ADD], ALLOWED);
    let stopped = 0;
    const run = await house.ask([], {
      during: (hi) =>
        void untilCalled().then(() => {
          stopped = Date.now();
          hi.kill('SIGINT');
        }),
    });
    expect(run.status).toBe(130);
    expect(Date.now() - stopped).toBeLessThan(2500);
    expect(house.server.requests().map(({ method }) => method)).toContain('notifications/cancelled');
    expect(house.running()).toEqual([]);
  });

  it('whose result reports a failure is an error for the model', async () => {
    const content = [{ type: 'text', text: 'no such note' }];
    house = await mcpHouse(withAdd({ isError: true, content }), [ADD], ALLOWED);
    expect(await house.ask()).toMatchObject({ status: 0, stdout: 'done\n' });
    expect(toolResults(house)[0]).toContain('no such note');
    expect(toolResults(house)[0]).toMatch(/error/i);
  });

  it('may return pictures, sounds and files: the model sees what it can, and each is saved to a file', async () => {
    const content = [
      { type: 'text', text: 'a picture' },
      { type: 'image', mimeType: 'image/png', data: PNG.toString('base64') },
      { type: 'resource', resource: { uri: 'file:///a.bin', mimeType: 'application/x-tar', blob: 'AAECAw==' } },
      { type: 'resource', resource: { uri: 'file:///b.txt', text: 'words of b' } },
      { type: 'resource_link', uri: 'file:///c.txt', name: 'c' },
      { type: 'hologram' },
    ];
    house = await mcpHouse(withAdd({ content }), [ADD], ALLOWED);
    expect((await house.ask()).status).toBe(0);
    const result = JSON.parse(toolResults(house)[0] ?? '').content;
    expect(result).toMatch(/^a picture\n/);
    expect(result).toContain('[resource file:///b.txt]\nwords of b');
    expect(result).toContain('[resource file:///c.txt: c]');
    expect(result).toContain("[content of the unknown type 'hologram']");
    const [, picture = ''] = /\[image\/png, \d+ bytes, in (\S+); shown below\]/.exec(result) ?? [];
    expect(readFileSync(picture)).toEqual(PNG);
    const [, archive = ''] = /\[application\/x-tar, 4 bytes, in (\S+)\]/.exec(result) ?? [];
    expect(readFileSync(archive)).toEqual(Buffer.from([0, 1, 2, 3]));
    const last = JSON.stringify(house.model.server.requests.at(-1)?.messages.at(-1));
    expect(last).toContain('From the tools, not from the user');
    expect(last).toContain(`data:image/png;base64,${PNG.toString('base64')}`);
  });

  it('may return a sound, which the model hears', async () => {
    const wave = Buffer.concat([Buffer.from('RIFF$\0\0\0WAVEfmt '), Buffer.alloc(28)]);
    const content = [{ type: 'audio', mimeType: 'audio/wav', data: wave.toString('base64') }];
    house = await mcpHouse(withAdd({ content }), [ADD], ALLOWED);
    expect((await house.ask()).status).toBe(0);
    const result = JSON.parse(toolResults(house)[0] ?? '').content;
    const [, sound = ''] = /^\[audio\/wav, 44 bytes, in (\S+); shown below\]$/.exec(result) ?? [];
    expect(readFileSync(sound)).toEqual(wave);
    expect(JSON.stringify(house.model.server.requests.at(-1)?.messages)).toContain(wave.toString('base64'));
  });

  it('returns its structured result if there is no text', async () => {
    house = await mcpHouse(withAdd({ content: [], structuredContent: { total: 3 } }), [ADD], ALLOWED);
    await house.ask();
    expect(JSON.parse(toolResults(house)[0] ?? '')).toEqual({ content: '{"total":3}' });
  });

  it('without a required argument does not reach the server', async () => {
    house = await mcpHouse({ tools: [textTool('add')] }, [{ name: 'mcp__notes__add', args: {} }], ALLOWED);
    expect(await house.ask()).toMatchObject({ status: 0, called: 0 });
    expect(toolResults(house)[0]).toContain("'text' is missing");
  });
});
