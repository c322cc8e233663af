import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { slashCommands } from '../../lib/slash/index.js';
import { chatDriver } from '../support/chat.js';
import { PROGRAM, RUNTIME, runProgram } from '../support/program.js';
import { control, KEY, openTerminal } from '../support/terminal.js';

const start = chatDriver();

describe('hi chat in a terminal', () => {
  it('continues with all earlier messages in a new process, and shows the last exchange', async () => {
    const chat = await start((_request, index) => ({ text: `answer number ${index + 1}` }));
    await chat.open();
    expect(chat.terminal.screen()).toContain('openai/scripted · a new conversation');
    await chat.say('first question', 'answer number 1');
    await chat.say('second question', 'answer number 2');
    chat.terminal.type(control('d'));
    expect(await chat.terminal.exit()).toMatchObject({ status: 0 });
    await chat.open();
    expect(chat.terminal.screen()).toContain('4 messages');
    expect(chat.terminal.screen()).toMatch(/> second question\n+answer number 2/);
    expect(chat.terminal.look('answer number 2').dim).toBe(true);
    await chat.say('third question', 'answer number 3');
    expect(chat.sent(2)).toEqual([
      'first question',
      'answer number 1',
      'second question',
      'answer number 2',
      'third question',
    ]);
    expect(chat.stored()).toHaveLength(6);
  });

  it('does the same with -c and --continue', async () => {
    const chat = await start((_request, index) => ({ text: `answer ${index}` }));
    await chat.open({ args: ['-c'] });
    await chat.say('one', 'answer 0');
    const asked = await runProgram(chat.home, ['--continue'], { input: 'two' });
    expect(asked).toEqual({ status: 0, stdout: 'answer 1\n', stderr: '' });
    expect(chat.sent()).toEqual(['one', 'answer 0', expect.stringContaining('two')]);
  });

  it('asks before a command runs, and runs it if the user approves', async () => {
    const chat = await start((_request, index) =>
      index === 0 ? { calls: [{ name: 'bash', args: { command: 'echo ran > proof.txt' } }] } : { text: 'It ran.' },
    );
    await chat.open();
    chat.terminal.type(`do it${KEY.enter}`);
    await chat.until('Run this command?');
    expect(chat.terminal.screen()).toContain('echo ran > proof.txt');
    chat.terminal.type(KEY.enter);
    await chat.until('It ran.');
    expect(readFileSync(join(chat.home.work, 'proof.txt'), 'utf8')).toBe('ran\n');
  });

  it('shows characters that could disguise a command, and leaves no menu when the question is cancelled', async () => {
    const chat = await start(() => ({ calls: [{ name: 'bash', args: { command: 'echo \u202etxt.live\x1b[8m' } }] }));
    await chat.open();
    chat.terminal.type(`do it${KEY.enter}`);
    await chat.until(/Run this command\?[\s\S]*yes, once/);
    expect(chat.terminal.screen()).toContain('\n│ echo <U+202E>txt.live<U+001B>[8m\n');
    chat.terminal.type(KEY.escape);
    await chat.until(/\(interrupted\)\n+hi> *$/);
    expect(chat.terminal.screen()).not.toContain('yes, once');
  });

  it('shows the selected choice even in a terminal of five rows', async () => {
    const chat = await start((_request, index) =>
      index === 0 ? { calls: [{ name: 'bash', args: { command: 'echo ran > proof.txt' } }] } : { text: 'well' },
    );
    await chat.open({ columns: 20, rows: 5 });
    chat.terminal.type(`do it${KEY.enter}`);
    await chat.until('❯ yes, once');
    chat.terminal.type(KEY.down + KEY.down);
    await chat.until('❯ no');
    chat.terminal.type(KEY.enter);
    await chat.until(/^well$/m);
    expect(existsSync(join(chat.home.work, 'proof.txt'))).toBe(false);
  });

  it('stores an "always", and does not ask again', async () => {
    const chat = await start((_request, index) =>
      index % 2 === 0 ? { calls: [{ name: 'bash', args: { command: 'git --version' } }] } : { text: `seen ${index}` },
    );
    await chat.open();
    chat.terminal.type(`which git${KEY.enter}`);
    await chat.until('Run this command?');
    chat.terminal.type(`${KEY.down}${KEY.enter}`);
    await chat.until('seen 1');
    await chat.say('again', 'seen 3');
    const { tools } = JSON.parse(readFileSync(chat.home.configFile, 'utf8'));
    expect(tools.permissions.allow).toHaveLength(1);
  });

  it('stops an answer with Ctrl-C, keeps the partial answer, and continues', async () => {
    const chat = await start((_request, index) =>
      index === 0 ? { pieces: ['half an ', 'answer'], hangAfter: 1 } : { text: 'whole' },
    );
    await chat.open();
    chat.terminal.type(`question${KEY.enter}`);
    await chat.until('half an');
    chat.terminal.type(control('c'));
    await chat.until('(interrupted)');
    await chat.say('go on', 'whole');
    expect(chat.sent(1)).toEqual(['question', 'half an \n[interrupted by the user]', 'go on']);
    expect(chat.stored()[1]).toMatchObject({ stop_reason: 'interrupted' });
  });

  it('keeps a partial answer, says what happened, and asks again with /retry', async () => {
    const chat = await start((_request, index) =>
      index === 0 ? { pieces: ['a part ', 'b'], cutAfter: 1, delay: 100 } : { text: 'all of it' },
    );
    await chat.open();
    await chat.say('question', /hi: /);
    expect(chat.terminal.screen()).toContain('a part');
    await chat.say('/retry', 'all of it');
    expect(chat.sent(1)).toEqual(['question']);
  });

  it('runs the command for the key again if it failed', async () => {
    const chat = await start(() => ({ text: 'at last' }), { api_key: '!cat key' });
    await chat.open();
    await chat.say('question', "The key command failed: 'cat key'");
    chat.home.write('key', 'sk-1');
    await chat.say('question', 'at last');
  });

  it('marks an answer to the output of a command, also if somebody else spoke in between', async () => {
    const chat = await start(() => ({ text: 'fine' }));
    await chat.open();
    await chat.say('!echo of a page', /of a page/);
    await runProgram(chat.home, ['ask', 'from a cron job']);
    await chat.say('what does it say?', 'fine');
    await chat.say('and now?', /and now\?\n+fine/);
    const rests = chat
      .stored()
      .filter(({ role }) => role === 'assistant')
      .map(({ rests_on }) => rests_on);
    expect(rests).toEqual([undefined, 'foreign', undefined]);
  });

  it('gives the terminal to a program that wants the whole screen, and adds nothing of it', async () => {
    const chat = await start(() => ({ text: 'fine' }));
    chat.home.write(
      'full',
      String.raw`printf '\033[?1049h'; if [ -t 1 ]; then read -r key; printf '\033[?1049l'; echo "$key" >typed; else sleep 60; fi`,
    );
    await chat.open();
    chat.terminal.type(`!sh ${chat.home.work}/full${KEY.enter}`);
    await chat.until((screen) => screen.trim() === '');
    chat.terminal.type(`yes${KEY.enter}`);
    await chat.until(/It used the whole screen: nothing was added\.\n+hi>/);
    expect(readFileSync(join(chat.home.work, 'typed'), 'utf8')).toBe('yes\n');
    await chat.say('go on', 'fine');
    expect(chat.sent()).toEqual(['go on']);
  });

  it('names its commands and keys on one screen, and explains one', async () => {
    const chat = await start(() => ({ text: 'fine' }));
    await chat.open({ columns: 40, rows: 24 });
    await chat.say('/help', '/help NAME explains');
    const shown = chat.terminal.screen();
    for (const { name } of slashCommands) expect(shown).toMatch(new RegExp(`(^|[ \n])/${name}([ \n]|$)`));
    await chat.say('/help model', /\/model \[name\]\n +show the model, or switch/);
    await chat.say('/help exit', '/quit');
    await chat.say('/help modle', "Did you mean 'model'?");
  });

  it('runs its commands, and never sends an unknown one', async () => {
    const chat = await start((_request, index) => ({ text: `answer ${index}`, usage: [12, 3] }));
    await chat.open({ rows: 80 });
    await chat.say('/help all', '/compact [focus]');
    const help = chat.terminal.transcript().split('/help all\n').at(-1) ?? '';
    expect(Math.max(...help.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    for (const { usage } of slashCommands) expect(help).toContain(`${usage} `);
    await chat.say('hello there', 'answer 0');
    await chat.say('/history 1', 'scripted ·');
    await chat.say('/status', 'messages     2 kept');
    expect(chat.terminal.screen()).toContain('tokens       12 in (0 cached), 3 out in this chat');
    expect(chat.terminal.screen()).toContain('nothing: it ran on a server of your own');
    await chat.say('/compact', 'nothing to compact');
    await chat.say('/find HELLO', '1 message.');
    await chat.say('/hlep', "Unknown command 'hlep'.\n    Did you mean 'help'? /help lists them all.\n");
    await chat.say('/HISTROY', "Did you mean 'history'?");
    await chat.say('/', "Unknown command ''");
    await chat.say('!!', 'No command given.');
    await chat.say('//not a command', 'answer 1');
    expect(chat.sent(1).at(-1)).toBe('/not a command');
    await chat.say('/export out.md', 'Wrote out.md.');
    expect(readFileSync(join(chat.home.work, 'out.md'), 'utf8')).toContain('hello there');
    await chat.say(
      '/tools',
      /\nwrite_file {2}Creates a file, with its parent folders, or replaces all of it\.\nedit_file/,
    );
    await chat.say('/skills', "No skills found in '");
    await chat.say('/skills nope', /Unknown skill 'nope'\.\n {4}No skills found in '/);
    await chat.say('/skill nope', /skill 'nope'.*skill 'nope'\.\n {4}No skills found in '/s);
    expect(chat.server.requests).toHaveLength(2);
    chat.terminal.type(`/quit${KEY.enter}`);
    expect(await chat.terminal.exit()).toMatchObject({ status: 0 });
  });

  it('takes the last turn back with /undo and puts its words into the prompt', async () => {
    const chat = await start((_request, index) => ({ text: `answer ${index}` }));
    await chat.open();
    await chat.say('keep this', 'answer 0');
    await chat.say('regret this', 'answer 1');
    chat.terminal.type(`/undo${KEY.enter}`);
    await chat.until(/Undone: #3 · regret this\n+hi> regret this/);
    chat.terminal.type(` no more${KEY.enter}`);
    await chat.until('answer 2');
    expect(chat.sent(2)).toEqual(['keep this', 'answer 0', 'regret this no more']);
    expect(chat.stored().some(({ type }: { type?: string }) => type === 'undo')).toBe(true);
  });

  it('asks again with /retry, also with another model, and removes the old answer', async () => {
    const chat = await start(({ model }, index) => ({ text: `answer ${index} of ${model}` }));
    await chat.open();
    await chat.say('question', 'answer 0 of scripted');
    await chat.say('/retry other', /answer 1 of other\nanswered by openai\/other\n/);
    await chat.say('/retry', 'answer 2 of scripted');
    expect(chat.sent()).toEqual(['question']);
    await chat.say('/model other', /Switched to openai\/other\.[\s\S]*openai does not list 'other'/);
    await chat.say('more', 'answer 3 of other');
    expect(chat.sent()).toEqual(['question', 'answer 2 of scripted', 'more']);
  });

  it('opens the last message in the editor with /edit, and puts the result into the prompt', async () => {
    const chat = await start((_request, index) => ({ text: `answer ${index}` }));
    const editor = join(chat.home.folder, 'edit.sh');
    writeFileSync(editor, '#!/bin/sh\nsed -i s/cat/dog/ "$1"\n', { mode: 0o755 });
    await chat.open({ env: { EDITOR: editor } });
    await chat.say('the cat', 'answer 0');
    chat.terminal.type(`/edit${KEY.enter}`);
    await chat.until(/hi> the dog$/);
  });

  it('copies answers and their code with a clipboard program, else through the terminal', async () => {
    const chat = await start((_request, index) => ({ text: `answer ${index}\n\n~~~sh\nls -la\n~~~\n` }));
    const programs = join(chat.home.folder, 'programs');
    mkdirSync(programs);
    writeFileSync(join(programs, 'wl-copy'), '#!/bin/sh\ncat > "$HOME/copied"\n', { mode: 0o755 });
    const copied = () => readFileSync(join(chat.home.folder, 'copied'), 'utf8');
    await chat.open({ env: { PATH: `${programs}:${process.env.PATH}`, WAYLAND_DISPLAY: 'wayland-0' } });
    await chat.say('one', 'answer 0');
    await chat.say('two', 'answer 1');
    await chat.say('/copy', /Copied with wl-copy: \d+ characters/);
    expect(copied()).toContain('answer 1\n');
    await chat.say('/copy code', 'wl-copy: 6 characters');
    expect(copied()).toBe('ls -la');
    await chat.say('/copy 2', /hi> \/copy 2\nCopied/);
    expect(copied()).toContain('answer 0\n');
    chat.terminal.type(control('d'));
    await chat.terminal.exit();
    await chat.open({ env: { PATH: dirname(process.execPath) } });
    await chat.say('/copy code', 'OSC 52');
    expect(chat.terminal.written()).toContain(`\x1b]52;c;${Buffer.from('ls -la').toString('base64')}\x07`);
  });

  it('does not wait for a clipboard program whose display does not answer', async () => {
    const chat = await start(() => ({ text: 'answer' }));
    const programs = join(chat.home.folder, 'programs');
    mkdirSync(programs);
    writeFileSync(join(programs, 'wl-copy'), '#!/bin/sh\nexec sleep 600\n', { mode: 0o755 });
    await chat.open({ env: { PATH: `${programs}:${process.env.PATH}`, WAYLAND_DISPLAY: 'wayland-0' } });
    await chat.say('one', /^answer/m);
    await chat.say('/copy', 'OSC 52');
  });

  it('exports the conversation as Markdown or JSON, and asks before it overwrites a file', async () => {
    const chat = await start(() => ({ text: 'answer' }));
    chat.home.write('out.json', 'mine');
    await chat.open();
    await chat.say('question', /^answer/m);
    chat.terminal.type(`/export out.json${KEY.enter}`);
    await chat.until('Overwrite out.json?');
    chat.terminal.type(KEY.enter);
    await chat.until('Nothing was written.');
    chat.terminal.type(`/export out.json${KEY.enter}`);
    await chat.until(/Nothing was written[\s\S]*Overwrite out.json\? \(y\/N\)/);
    await chat.say('y', 'Wrote out.json.');
    expect(JSON.parse(readFileSync(join(chat.home.work, 'out.json'), 'utf8'))).toEqual(chat.stored());
    await chat.say('/export out.txt', "Cannot export to 'out.txt': the name must end in .html, .md or .json.");
    await chat.say('/export ~/at home.md', 'Wrote ~/at home.md.');
    expect(existsSync(join(chat.home.folder, 'at home.md'))).toBe(true);
  });

  it('clears the conversation with /reset after asking', async () => {
    const chat = await start((_request, index) => ({ text: `answer ${index}` }));
    await chat.open();
    await chat.say('old', 'answer 0');
    chat.terminal.type(`/reset${KEY.enter}`);
    await chat.until('Clear the conversation of 2 messages?');
    chat.terminal.type(`y${KEY.enter}`);
    await chat.until('Cleared 2 messages');
    await chat.say('new', 'answer 1');
    expect(chat.sent(1)).toEqual(['new']);
  });

  it('adds the output of !command to the conversation, but not that of !!command', async () => {
    const chat = await start(() => ({ text: 'seen' }));
    await chat.open();
    await chat.say('!echo kept-output', /^kept-output/m);
    await chat.say('!!echo private-output', /^private-output/m);
    expect(chat.terminal.screen()).not.toContain('exit status');
    await chat.say('!!exit 3', 'exit status 3');
    await chat.say('!!kill -TERM $$', 'ended by SIGTERM');
    await chat.say('what did I run?', 'seen');
    const sent = JSON.stringify(chat.sent(0));
    expect(sent).toContain('kept-output');
    expect(sent).not.toContain('private-output');
  });

  it('separates the answers to a script on a terminal too', async () => {
    const chat = await start((_request, index) => ({ text: `answer ${index + 1}` }));
    const script = `printf 'one\\ntwo\\n' | "${RUNTIME}" "${PROGRAM}" chat`;
    const terminal = openTerminal('sh', ['-c', script], { env: chat.home.env, cwd: chat.home.work });
    try {
      await terminal.exit();
      expect(terminal.screen()).toMatch(/^answer 1\n\nanswer 2$/m);
    } finally {
      await terminal.close();
    }
  });

  it('shows the output of !command unchanged, however many pieces it comes in', async () => {
    const chat = await start(() => ({ text: 'seen' }));
    await chat.open();
    await chat.say('!for i in 1 2 3; do printf "$i "; sleep 0.3; done', /^1 2 3$/m);
    await chat.say(
      '!printf a >&2; sleep 0.3; printf b >&2; sleep 0.3; printf c; sleep 0.3; exit 3',
      /^abc\nexit status 3$/m,
    );
    await chat.say('!printf "one\\r"; sleep 0.3; printf "\\ntwo"', /^one\ntwo$/m);
    const run = await runProgram(chat.home, ['chat'], { input: '!printf a; sleep 0.3; printf b\n!echo c\n' });
    expect(run.stdout).toBe('ab\n\nc\n');
  });

  it('shows head and tail of a long output of !command, and says how much was added', async () => {
    const chat = await start(() => ({ text: 'seen' }), { context_window: 20_000 });
    await chat.open();
    await chat.say('!seq 2000', /· 8,893 characters added \(11% of the window\)/);
    expect(chat.terminal.transcript()).toMatch(
      /hi> !seq 2000\n1\n2\n[\s\S]*\n20\n… 1,970 more lines\n1991\n[\s\S]*\n2000\n· 8,893/,
    );
    await chat.say('!seq 60000', /\n… 59,970 more lines\n59991\n/);
    await chat.say("!printf '%05000d' 0", /· 5,000 characters added/);
    expect(chat.terminal.transcript()).toMatch(/\n0{2000}\n… 1,000 more characters\n0{2000}\n· 5,000/);
    await chat.say('!seq 30', /· 81 characters added\n/);
    expect(chat.terminal.transcript()).toMatch(/\n29\n30\n· 81 characters added\n/);
    await chat.say('!true', /!true\n\nhi/);
    await chat.say('what?', 'seen');
    expect(chat.sent().join('\n').includes('\n1000\n1001\n')).toBe(true);
  });

  it('hides a key that !command prints from the model and the screen, whatever its source', async () => {
    const chat = await start(() => ({ text: 'seen' }), { api_key: 'a-key-of-the-file-1' });
    await chat.open({ env: { HI_API_KEY: 'a-key-of-hi-alone-2' } });
    await chat.say('!echo a-key-of""-the-file-1 a-key-of""-hi-alone-2 done', /hidden by hi.*done/);
    await chat.say('what did I run?', 'seen');
    expect(JSON.stringify(chat.sent(0))).not.toMatch(/a-key-of-the-file-1|a-key-of-hi-alone-2/);
  });

  it('leaves Ctrl-C to the command that has the terminal, and keeps what an interrupted !command printed', async () => {
    const chat = await start(() => ({ text: 'seen' }));
    await chat.open();
    chat.terminal.type(`!!echo run""ning; exec sleep 600${KEY.enter}`);
    await chat.until('running');
    chat.terminal.type(control('c'));
    await chat.until(/running[\s\S]*\nhi> *$/);
    chat.terminal.type(`!echo sta""rted; exec sleep 600${KEY.enter}`);
    await chat.until('started');
    chat.terminal.type(control('c'));
    await chat.until(/started[\s\S]*\nhi> *$/);
    await chat.say('what did I run?', 'seen');
    expect(chat.sent()[0]).toContain('sta""rted; exec sleep 600');
    expect(chat.sent()[0]).toContain('interrupted\nOutput before that:\nstarted\n');
  });

  it('treats an @ in a sentence as a mention only if such a file exists, and says in one dim line what it did', async () => {
    const chat = await start(() => ({ text: 'read' }));
    chat.home.write('notes.txt', 'the notes\n');
    await chat.open();
    await chat.say('summarise @notes.txt.', /^read/m);
    expect(JSON.stringify(chat.sent())).toContain('the notes');
    expect(chat.terminal.screen()).toContain('attached notes.txt (11 tokens)');
    await chat.say('import @google/genai and @app.route, @all, me@example.org', /genai, @app.route\n[\s\S]*read/);
    expect(chat.terminal.screen()).toMatch(/^sent as text, no such file: @google\/genai, @app\.route$/m);
    expect(chat.terminal.look('no such file').dim).toBe(true);
    expect(chat.sent().at(-1)).toBe('import @google/genai and @app.route, @all, me@example.org');
  });

  it('puts a message back into the prompt if a file that it mentions cannot be attached', async () => {
    const chat = await start(() => ({ text: 'read' }));
    chat.home.write('data.bin', '\0\0\0\0');
    await chat.open();
    const long = 'pasted '.repeat(40);
    chat.terminal.type('see @data.bin ');
    chat.terminal.paste(long);
    await chat.until('[LongText#1]');
    chat.terminal.type(KEY.enter);
    await chat.until(/'data\.bin' is a binary file[\s\S]*\nhi> see @data\.bin \[LongText#1\]\n#\d[^\n]*$/);
    expect(chat.server.requests).toHaveLength(0);
    rmSync(join(chat.home.work, 'data.bin'));
    chat.terminal.type(KEY.enter);
    await chat.until(/^read/m);
    expect(chat.sent()).toEqual([`see @data.bin ${long.trimEnd()} `]);
  });

  it('attaches a file that @path names, and again after /undo', async () => {
    const chat = await start(() => ({ text: 'read' }));
    chat.home.write('plan.txt', 'the plan is simple\n');
    await chat.open();
    await chat.say('see @plan.txt', /^read/m);
    expect(JSON.stringify(chat.sent(0))).toContain('the plan is simple');
    chat.terminal.type(`/undo${KEY.enter}`);
    await chat.until(/Undone: #1 · see @plan\.txt\n+hi> see @plan\.txt$/m);
    chat.terminal.type(KEY.enter);
    await chat.until(/Undone: #1 · see @plan\.txt\n+hi> see @plan\.txt\nattached .*\n\nread/);
    expect(chat.sent(1)).toEqual(['<file name="plan.txt">\nthe plan is simple\n</file>\n\nsee @plan.txt']);
  });

  it('sends images and documents that @path names in their own formats', async () => {
    const chat = await start(() => ({ text: 'seen' }));
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNgYGAAAAAEAAH2FzhVAAAAAElFTkSuQmCC';
    writeFileSync(join(chat.home.work, 'dot one.png'), Buffer.from(png, 'base64'));
    chat.home.write('paper.pdf', '%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF');
    await chat.open();
    await chat.say('see @"dot one.png" and @paper.pdf, me@example.org', /^seen/m);
    expect(JSON.stringify(chat.sent())).toContain(`data:image/png;base64,${png}`);
    expect(JSON.stringify(chat.sent())).toContain('data:application/pdf;base64,');
    expect(JSON.stringify(chat.sent())).toContain('and @paper.pdf, me@example.org');
  });

  it('answers /btw in context and keeps nothing of it', async () => {
    const chat = await start((_request, index) => ({ text: `answer ${index}` }));
    await chat.open();
    await chat.say('main', 'answer 0');
    await chat.say('/btw by the way', 'answer 1');
    await chat.say('back', 'answer 2');
    expect(chat.sent(1)).toEqual(['main', 'answer 0', 'by the way']);
    expect(chat.sent(2)).toEqual(['main', 'answer 0', 'back']);
  });
});
