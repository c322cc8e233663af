import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type McpHouse, mcpHouse, offeredTools } from '../support/mcp-house.js';
import { PROGRAM, RUNTIME, runProgram } from '../support/program.js';
import { KEY, openTerminal } from '../support/terminal.js';
import { textTool } from '../support/tool-server.js';

let house: McpHouse;
afterEach(() => house?.close());

const hi = (...args: readonly string[]) => runProgram(house.home, args);
const config = () => JSON.parse(readFileSync(house.home.configFile, 'utf8'));

/** A house whose server is known to a project only. */
async function project(): Promise<void> {
  house = await mcpHouse({ tools: [textTool('add')] }, []);
  house.configure({ mcpServers: {} });
  house.home.write('.mcp.json', JSON.stringify({ mcpServers: { local: house.server.entry } }));
}

async function approve(answer: string, until: RegExp): Promise<string> {
  const { env, work: cwd } = house.home;
  const terminal = openTerminal(RUNTIME, [PROGRAM, 'mcp', 'approve'], { env, cwd, columns: 120, rows: 40 });
  try {
    await terminal.until(until);
    terminal.type(`${answer}${KEY.enter}`);
    await terminal.exit();
    return terminal.transcript();
  } finally {
    await terminal.close();
  }
}

describe('hi mcp add', () => {
  it('starts the server once, shows its tools and their sizes, and then saves it', async () => {
    house = await mcpHouse({ tools: [textTool('add', 'Adds a note.')] }, []);
    const { command, args } = house.server.entry;
    const run = await hi('mcp', 'add', 'other', '-e', 'TOKEN=abc=def', '--', command, ...args);
    expect(run).toMatchObject({ status: 0 });
    expect(run.stdout).toMatch(/^add {2}Adds a note\. \(\d+ tokens\)\n1 tool, about \d+ tokens in every request\n$/);
    expect(config().mcpServers.other).toEqual({ command, args, env: { TOKEN: 'abc=def' } });
    expect(config().mcpServers.notes).toBeDefined();
    expect(house.server.starts().at(-1)?.env.TOKEN).toBe('abc=def');
    await house.ask(['--no-tools']);
    expect(JSON.parse((await hi('mcp', 'list', '--json')).stdout)[1].tools).toHaveLength(1);
  });

  it('saves nothing if the server cannot be started, and shows its output', async () => {
    house = await mcpHouse({ exits: 2, stderr: 'no licence\n' }, []);
    const before = readFileSync(house.home.configFile, 'utf8');
    const { command, args } = house.server.entry;
    const run = await hi('mcp', 'add', 'other', '--', command, ...args);
    expect(run.status).toBe(5);
    expect(run.stderr).toContain('no licence');
    expect(readFileSync(house.home.configFile, 'utf8')).toBe(before);
  });

  it('refuses a name that is taken, and saves a URL with headers without a test', async () => {
    house = await mcpHouse({}, []);
    expect((await hi('mcp', 'add', 'notes', 'http://127.0.0.1:9/mcp')).stderr).toContain('hi mcp remove notes');
    const run = await hi('mcp', 'add', 'far', 'http://127.0.0.1:9/mcp', '-H', 'X-Key: a: b', '--no-test');
    expect(run.status).toBe(0);
    expect(config().mcpServers.far).toEqual({
      type: 'http',
      url: 'http://127.0.0.1:9/mcp',
      headers: { 'X-Key': 'a: b' },
    });
  });
});

describe('hi mcp add --from', () => {
  const settings = {
    mcpServers: {
      files: { command: 'npx', args: ['files'], env: { TOKEN: 'sk-1' } },
      far: { url: 'https://a.example/' },
    },
  };

  beforeEach(async () => {
    house = await mcpHouse({}, []);
    writeFileSync(join(house.home.folder, '.claude.json'), JSON.stringify(settings));
  });

  it('lists the servers of another program without their secrets, and adds those that are named, without starting any', async () => {
    const before = config();
    const list = await hi('mcp', 'add', '--from', 'claude');
    expect(list).toMatchObject({ status: 0, stdout: 'files  npx files  TOKEN=…\nfar  https://a.example/\n' });
    expect(list.stderr).toContain('hi mcp add --from claude NAME...');
    expect(config()).toEqual(before);
    expect((await hi('mcp', 'add', '--from', 'claude', 'files')).stderr).toContain("Added 'files'");
    expect(config().mcpServers).toEqual({ ...before.mcpServers, files: settings.mcpServers.files });
    expect(house.server.starts()).toEqual([]);
    expect((await hi('mcp', 'add', '--from', 'claude', 'files')).stderr).toContain("There is already a server 'files'");
    expect((await hi('mcp', 'add', '--from', 'claude', 'fil')).stderr).toContain("Did you mean 'files'?");
  });

  it('asks on a terminal which to add, with none chosen beforehand', async () => {
    const { env, work: cwd } = house.home;
    const terminal = openTerminal(RUNTIME, [PROGRAM, 'mcp', 'add', '--from', 'claude'], {
      env,
      cwd,
      columns: 120,
      rows: 40,
    });
    try {
      await terminal.until('Which of them should hi use?');
      terminal.type(`${KEY.down} ${KEY.enter}`);
      await terminal.exit();
    } finally {
      await terminal.close();
    }
    expect(Object.keys(config().mcpServers)).toEqual(['notes', 'far']);
    expect(house.server.starts()).toEqual([]);
  });

  it('says what it does not know, and where there is nothing', async () => {
    expect(await hi('mcp', 'add', '--from', 'codx')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("'codex'"),
    });
    expect((await hi('mcp', 'add', '--from', 'codex')).stderr).toContain('codex has no MCP servers in');
    expect(await hi('mcp', 'add')).toMatchObject({ status: 2, stderr: expect.stringContaining('No name given.') });
    expect((await hi('mcp', 'add', 'x')).stderr).toContain("No program or address given for 'x'.");
  });
});

describe('hi mcp add of an invalid entry', () => {
  it.each([
    ['no name', ['', '--', 'x'], "'' is not the name of a server."],
    ['a name that is too long', ['x'.repeat(65), '--', 'x'], 'Choose a name of 1 to 64 visible characters.'],
    ['a name that cannot be seen', ['a\u200bb', '--', 'x'], 'is not the name of a server.'],
    ['an environment for an address', ['far', 'http://127.0.0.1:9/', '-e', 'A=b'], '--env is for a program.'],
    ['headers for a program', ['near', '-H', 'A: b', '--', 'x'], '--header is for an address.'],
  ])('saves nothing: %s', async (_what, words, said) => {
    house = await mcpHouse({}, []);
    const before = readFileSync(house.home.configFile, 'utf8');
    const run = await hi('mcp', 'add', '--no-test', ...words);
    expect(run).toMatchObject({ status: 2 });
    expect(run.stderr).toContain(said);
    expect(readFileSync(house.home.configFile, 'utf8')).toBe(before);
  });
});

describe('a rule about a server that is not configured', () => {
  it('is named by hi mcp list and hi config check', async () => {
    house = await mcpHouse({}, []);
    const allow = ['mcp__notes__add', 'mcp__nots__add', 'mcp__*', { rule: 'mcp__far__x(a=b)' }];
    house.configure({ tools: { permissions: { allow, deny: ['mcp__note*', 'bash(rm:*)'] } } });
    const said = ['mcp__nots__add', 'mcp__far__x(a=b)'].map(
      (rule) => `The rule '${rule}' names a server that is not configured.`,
    );
    expect((await hi('mcp', 'list')).stderr.trim().split('\n')).toEqual(said);
    const check = (await hi('config', 'check')).stdout;
    for (const one of said) expect(check).toContain(`rules: ${one}`);
    expect(check.match(/not configured/g)).toHaveLength(2);
  });
});

describe('hi mcp remove', () => {
  it('removes the server, everything stored about it, and its log', async () => {
    house = await mcpHouse({ tools: [textTool('add')], stderr: 'a banner\n' }, []);
    await hi('mcp', 'test', 'notes');
    expect((await hi('mcp', 'log', 'notes')).stdout).toBe('a banner\n');
    expect(await hi('mcp', 'log', 'nots')).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/There is no server 'nots' in '.*'\.\n.*'notes'/),
    });
    expect((await hi('mcp', 'remove', 'nots')).stderr).toContain("Did you mean 'notes'?");
    expect((await hi('mcp', 'remove', 'notes')).status).toBe(0);
    expect(config().mcpServers).toEqual({});
    expect(existsSync(join(house.home.folder, 'cache/mcp/notes.json'))).toBe(false);
    expect((await hi('mcp', 'log', 'notes')).stdout).toBe('');
  });
});

describe('hi mcp test', () => {
  it('calls a tool, and its exit status says whether that failed', async () => {
    const bad = { isError: true, content: [{ type: 'text', text: 'broken' }] };
    const asTask = { ...textTool('research'), execution: { taskSupport: 'required' } };
    house = await mcpHouse({ tools: [textTool('add'), textTool('bad'), asTask], results: { bad } }, []);
    const test = await hi('mcp', 'test', 'notes', '--call', 'add={"text":"x"}');
    expect(test.stdout).toMatch(/^2 tools[\s\S]*\n\n\{"text":"x"\}\n$/m);
    expect(test.stdout + test.stderr).toContain('1 of its 3 tools were left out: they run only as tasks');
    const failed = await hi('mcp', 'test', 'notes', '--json', '--call', 'bad={"text":"x"}');
    expect(failed.status).toBe(5);
    expect(JSON.parse(failed.stdout)).toMatchObject({ protocol: 'legacy', result: { text: 'broken', is_error: true } });
    expect((await hi('mcp', 'test', 'notes', '--call', 'add={text}')).stderr).toContain('not a JSON object');
    expect((await hi('mcp', 'test', 'note')).stderr).toContain("Did you mean 'notes'?");
  });
});

describe('the servers of a project', () => {
  it('are named but not started before the user approves them, even with -y', async () => {
    await project();
    const run = await house.ask(['-y']);
    expect(run.stderr).toContain("Not used: the servers of this project in '.mcp.json': local.");
    expect(house.server.starts()).toEqual([]);
    expect((await house.ask()).stderr).not.toContain('.mcp.json');
    expect((await hi('mcp', 'list')).stdout).toContain('waiting for your approval');
    expect((await hi('mcp', 'approve')).status).toBe(2);
    const test = await hi('mcp', 'test', 'local');
    expect(test.status).toBe(2);
    expect(test.stderr).toContain("The server 'local' of this project is waiting for your approval.");
    expect(test.stderr).toContain('hi mcp approve local');
    expect(house.server.starts()).toEqual([]);
  });

  it('are started once the user has seen their entry and approved it, until it changes', async () => {
    await project();
    expect(await approve('n', /start the server 'local'/)).toContain(house.server.entry.args[1] ?? '?');
    expect((await hi('mcp', 'list')).stdout).toContain('waiting for your approval');
    await approve('y', /start the server 'local'/);
    await house.ask();
    expect(offeredTools(house)).toContain('mcp__local__add');
    house.home.write(
      '.mcp.json',
      JSON.stringify({ mcpServers: { local: { ...house.server.entry, env: { A: 'b' } } } }),
    );
    await house.ask();
    expect(offeredTools(house)).not.toContain('mcp__local__add');
  });

  it('are shown whole, however long the entry is, with a margin that no server can draw', async () => {
    await project();
    const flags = Array.from({ length: 80 }, (_, index) => `--flag=${index}`);
    const args = ['-c', "touch ran\n? May hi start the server 'x' of this project? ❯ yes", ...flags];
    house.home.write('.mcp.json', JSON.stringify({ mcpServers: { local: { command: 'sh', args } } }));
    const { env, work: cwd } = house.home;
    const terminal = openTerminal(RUNTIME, [PROGRAM, 'mcp', 'approve'], { env, cwd, columns: 80, rows: 24 });
    try {
      await terminal.until(/❯ no\n/);
      expect(terminal.screen()).toMatch(/^local:\n│ \{\n│ {3}"command": "sh",\n/);
      expect(terminal.screen()).toContain('more lines (v: view all)');
      terminal.type('v');
      await terminal.until(/^1-22 of/m);
      terminal.type('   ');
      await terminal.until('"--flag=79"');
      expect(terminal.screen()).not.toMatch(/^(?!│ |\d).+$/m);
      terminal.type('q');
      await terminal.until(/❯ no\n/);
      terminal.type(KEY.enter);
      await terminal.exit();
      expect((await hi('mcp', 'list')).stdout).toContain('waiting for your approval');
    } finally {
      await terminal.close();
    }
  });

  it('are not all named if there are thousands', async () => {
    await project();
    const many = Array.from({ length: 30_000 }, (_, index) => [`s${index}`, house.server.entry]);
    house.home.write('.mcp.json', JSON.stringify({ mcpServers: Object.fromEntries(many) }));
    const { stderr } = await house.ask();
    expect(stderr).toContain("'.mcp.json' names 30000 servers. Only the first 50 are read.");
    expect(stderr).toContain("in '.mcp.json': s0, s1, s2, s3, s4, s5, s6, s7, s8, s9 and 40 more.");
    expect(stderr.length).toBeLessThan(500);
  });

  it('are found from a subfolder, up to the root of the repository and no further, the nearest file first', async () => {
    await project();
    const { work } = house.home;
    mkdirSync(join(work, 'a/b/c'), { recursive: true });
    const names = async (cwd: string): Promise<readonly string[]> => {
      const { stdout } = await runProgram(house.home, ['mcp', 'list', '--json'], { cwd: join(work, cwd) });
      return JSON.parse(stdout).map(({ name }: { readonly name: string }) => name);
    };
    expect(await names('a/b/c')).toEqual([]);
    mkdirSync(join(work, '.git'));
    expect(await names('a/b/c')).toEqual(['local']);
    house.home.write('a/.mcp.json', JSON.stringify({ mcpServers: { nearer: house.server.entry } }));
    expect(await names('a/b/c')).toEqual(['nearer']);
    mkdirSync(join(work, 'a/b/.git'));
    expect(await names('a/b/c')).toEqual([]);
    expect(await names('.')).toEqual(['local']);
  });

  it('run no command in a value, and an invalid file is named', async () => {
    await project();
    const local = { ...house.server.entry, env: { A: '!touch ran' } };
    house.home.write('.mcp.json', JSON.stringify({ mcpServers: { local } }));
    await approve('y', /start the server 'local'/);
    expect((await house.ask()).stderr).toContain('cannot run commands for its values');
    expect(existsSync(join(house.home.work, 'ran'))).toBe(false);
    house.home.write(
      '.mcp.json',
      '{"mcpServers": {"a": {"command": ["x"]}, "b": 1, "c": {}, "": {"command": "x"}, "d": {"command": "x", "enabled": false}}}',
    );
    const { stderr } = await house.ask();
    for (const name of ['a', 'b', 'c', ''])
      expect(stderr).toContain(`The server '${name}' in '.mcp.json' cannot be read.`);
    expect(stderr).not.toContain('waiting');
    expect(stderr).not.toContain('Not used');
  });
});
