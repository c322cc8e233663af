import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { chatDriver } from '../support/chat.js';
import { runProgram } from '../support/program.js';
import { pullingOllama } from '../support/pulling-ollama.js';
import { control, KEY } from '../support/terminal.js';

const start = chatDriver();
const MODELS = ['scripted', 'large-one', 'small-fast', 'small-cheap', 'local-one:latest', 'text-embedding-3'];

async function picking(models = MODELS, columns = 100) {
  const chat = await start(() => ({ text: 'fine' }), { $schema: './config.schema.json' }, models);
  await chat.open({ columns });
  chat.terminal.type(`/model${KEY.enter}`);
  await chat.until(/Which model\?[\s\S]*small-cheap/);
  return chat;
}

describe('/model without a name', () => {
  it('lists the models, narrows the list with each letter, and keeps the choice for later chats', async () => {
    const chat = await picking();
    chat.terminal.type('fast');
    await chat.until((screen) => !screen.includes('small-cheap') && screen.includes('small-fast'));
    await new Promise((resolve) => setTimeout(resolve, 450));
    chat.terminal.type(control('s'));
    await chat.until('Switched to openai/small-fast.');
    await chat.until('Later chats will use small-fast.');
    await chat.say('go', 'fine');
    expect(chat.server.requests.at(-1)?.model).toBe('small-fast');
    expect(JSON.parse(readFileSync(chat.home.configFile, 'utf8'))).toEqual({
      $schema: './config.schema.json',
      provider: 'openai',
      model: 'small-fast',
      api_base: chat.server.base,
    });
  });

  it('lists models for chats only, and keeps nothing when Enter chooses', async () => {
    const chat = await picking();
    expect(chat.terminal.screen()).not.toContain('text-embedding-3');
    chat.terminal.type('cheap');
    await chat.until((screen) => !screen.includes('small-fast') && screen.includes('small-cheap'));
    await new Promise((resolve) => setTimeout(resolve, 450));
    chat.terminal.type(KEY.enter);
    await chat.until(/Switched to openai\/small-cheap\.\s+hi>/);
    expect(JSON.parse(readFileSync(chat.home.configFile, 'utf8')).model).toBe('scripted');
  });

  it('shows each name in one row of a narrow terminal, and Tab types it', async () => {
    const long = 'hf.co/unsloth/Llama-3.2-3B-Instruct-GGUF:Q4_K_M';
    const chat = await picking([...MODELS, long], 36);
    expect(chat.terminal.screen()).toMatch(/^ {2}hf\.co\/unsloth\/Ll…ruct-GGUF:Q4_K_M·*$/m);
    chat.terminal.type('gguf');
    await chat.until((screen) => !screen.includes('small-fast'));
    chat.terminal.type('\t');
    await chat.until('too) hf.co/unsloth/Ll…');
    await new Promise((resolve) => setTimeout(resolve, 450));
    chat.terminal.type(KEY.enter);
    await chat.until(/Switched to/);
    await chat.say('go', 'fine');
    expect(chat.server.requests.at(-1)?.model).toBe(long);
  });

  it('changes nothing if the list is cancelled', async () => {
    const chat = await picking();
    chat.terminal.type(control('c'));
    await chat.until('Still openai/scripted.');
    await chat.say('go', 'fine');
    expect(chat.server.requests.at(-1)?.model).toBe('scripted');
  });
});

describe('hi models', () => {
  it('lists the models for chats as -m takes them, that in use first, and says what is known of each server', async () => {
    const chat = await start(() => ({ text: 'fine' }), {}, MODELS);
    const chats = MODELS.slice(0, -1);
    expect(await runProgram(chat.home, ['models'])).toMatchObject({ stdout: `${chats.join('\n')}\n`, stderr: '' });
    const work = { provider: 'openai', api_base: chat.server.base, api_key: 'k', model: 'large-one' };
    const dead = { ...work, api_base: 'http://127.0.0.1:9/v1' };
    chat.home.writeConfig(JSON.stringify({ servers: { work, dead }, model: 'work' }));
    const { stdout, stderr, status } = await runProgram(chat.home, ['models']);
    expect([status, stdout.split('\n').slice(0, 2)]).toEqual([0, ['work/large-one', 'work/scripted']]);
    expect(stderr).toMatch(
      /^\* work {2}openai\/large-one · .* · answers\n {2}dead {2}.* · does not answer: Nothing is listening/,
    );
  });
});

describe('/model with a name', () => {
  it('switches this chat without a question, and later ones with --save', async () => {
    const chat = await start(() => ({ text: 'fine' }), {}, MODELS);
    await chat.open();
    const configured = () => JSON.parse(readFileSync(chat.home.configFile, 'utf8')).model;
    await chat.say('/model large-one', /Switched to openai\/large-one[^\n]*\n+hi>/);
    await chat.say('/model local-one', /Switched to openai\/local-one:latest[^\n]*\n+hi>/);
    await chat.say('/model scriptet', "The nearest name is 'scripted'.");
    await chat.say(
      '/model claude-sonnet-4-5',
      /does not list 'claude-sonnet-4-5', so the next message may fail\.\s+hi>/,
    );
    expect(configured()).toBe('scripted');
    await chat.say('/model large-one with more words', "Not one model: 'large-one with more words'.");
    await chat.say('/model large-one --save', /Later chats will use large-one\.\s+hi>/);
    expect(configured()).toBe('large-one');
    await chat.say('go', 'fine');
    expect(chat.server.requests.at(-1)?.model).toBe('large-one');
  });
});

describe('/model with a model that will not answer', () => {
  it('says so where nothing listens, or the server has it not', async () => {
    await using ollama = await pullingOllama({ sizes: {} });
    const chat = await start(() => ({ text: 'fine' }), {}, MODELS);
    await chat.open({ env: { OLLAMA_HOST: ollama.url } });
    await chat.say('/model ollama/llama9', /ollama lists no models, so the next message may fail\.\s+hi>/);
    await ollama[Symbol.asyncDispose]();
    await chat.say(
      '/model ollama/llama8',
      /llama8\.[\s\S]*Nothing is listening at '[^']*'\. The next message may fail\. Start it there with: ollama\s+serve\./,
    );
  });
});

it('a model that is not there is told with the nearest that is, in hi ask', async () => {
  const missing = { status: 404, error: { message: 'no such model', code: 'model_not_found' } };
  const chat = await start(() => missing, {}, MODELS);
  const run = await runProgram(chat.home, ['-m', 'locl-one', 'ask', 'x']);
  expect(run.status).toBe(5);
  expect(run.stderr).toMatch(/has no model 'locl-one': no such model\.\n {4}Did you mean 'local-one'\? Choose another/);
});

describe('"show_usage"', () => {
  it('shows the tokens of each answer in the chat', async () => {
    const chat = await start(() => ({ text: 'fine', usage: [120, 30] }), { show_usage: true });
    await chat.open();
    await chat.say('go', /fine\n[^\n]*120 tokens in · 30 out/);
  });
});
