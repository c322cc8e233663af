import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { chatDriver } from '../support/chat.js';
import { control, KEY } from '../support/terminal.js';

const start = chatDriver();
const MODELS = ['scripted', 'large-one', 'small-fast', 'small-cheap'];

async function picking() {
  const chat = await start(() => ({ text: 'fine' }), { $schema: './config.schema.json' }, MODELS);
  await chat.open();
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
    chat.terminal.type(KEY.enter);
    await chat.until('Switched to openai/small-fast.');
    await chat.until('Use it in future chats too?');
    chat.terminal.type(`y${KEY.enter}`);
    await chat.until('Future chats will use small-fast.');
    await chat.say('go', 'fine');
    expect(chat.server.requests.at(-1)?.model).toBe('small-fast');
    expect(JSON.parse(readFileSync(chat.home.configFile, 'utf8'))).toEqual({
      $schema: './config.schema.json',
      provider: 'openai',
      model: 'small-fast',
      api_base: chat.server.base,
    });
  });

  it('changes nothing if the list is cancelled', async () => {
    const chat = await picking();
    chat.terminal.type(control('c'));
    await chat.until('Still openai/scripted.');
    await chat.say('go', 'fine');
    expect(chat.server.requests.at(-1)?.model).toBe('scripted');
  });
});

describe('/model with a name', () => {
  it('asks whether to keep it, like the list, and only if that changes something', async () => {
    const chat = await start(() => ({ text: 'fine' }), {}, MODELS);
    await chat.open();
    const configured = () => JSON.parse(readFileSync(chat.home.configFile, 'utf8')).model;
    const answered = async (command: string, key: string, until: string | RegExp) => {
      chat.terminal.type(`${command}${KEY.enter}`);
      await chat.until((screen) => screen.includes(command) && screen.endsWith('too? (y/N)'));
      chat.terminal.type(key);
      await chat.until(until);
    };
    await answered('/model large-one', `n${KEY.enter}`, /chats too\? no\s+hi>/i);
    expect(configured()).toBe('scripted');
    await answered('/model unknown', `y${KEY.enter}`, 'Future chats will use unknown.');
    expect(chat.terminal.screen()).toContain("openai does not list 'unknown'");
    expect(configured()).toBe('unknown');
    await answered('/model scripted', `y${KEY.enter}`, 'Future chats will use scripted.');
    expect(configured()).toBe('scripted');
    const asked = () => chat.terminal.screen().split('too?').length;
    const before = asked();
    await chat.say('/model scripted', (screen) => screen.split('Switched to openai/scripted').length === 3);
    expect(asked()).toBe(before);
  });
});

describe('"show_usage"', () => {
  it('shows the tokens of each answer in the chat', async () => {
    const chat = await start(() => ({ text: 'fine', usage: [120, 30] }), { show_usage: true });
    await chat.open();
    await chat.say('go', /fine\n[^\n]*120 tokens in · 30 out/);
  });
});
