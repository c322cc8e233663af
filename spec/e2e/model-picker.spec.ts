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
  it('lists the models to choose from, fewer with each letter, and keeps the choice for the next chats', async () => {
    const chat = await picking();
    chat.terminal.type('fast');
    await chat.until((screen) => !screen.includes('small-cheap') && screen.includes('small-fast'));
    await new Promise((resolve) => setTimeout(resolve, 450));
    chat.terminal.type(KEY.enter);
    await chat.until('Switched to openai/small-fast.');
    await chat.until('Use it in the next chats too?');
    chat.terminal.type(`y${KEY.enter}`);
    await chat.until('The next chats use small-fast.');
    await chat.say('go', 'fine');
    expect(chat.server.requests.at(-1)?.model).toBe('small-fast');
    expect(JSON.parse(readFileSync(chat.home.configFile, 'utf8'))).toEqual({
      $schema: './config.schema.json',
      provider: 'openai',
      model: 'small-fast',
      api_base: chat.server.base,
    });
  });

  it('changes nothing when the list is left', async () => {
    const chat = await picking();
    chat.terminal.type(control('c'));
    await chat.until('Still openai/scripted.');
    await chat.say('go', 'fine');
    expect(chat.server.requests.at(-1)?.model).toBe('scripted');
  });
});

describe('"show_usage"', () => {
  it('shows the tokens of each answer in the chat', async () => {
    const chat = await start(() => ({ text: 'fine', usage: [120, 30] }), { show_usage: true });
    await chat.open();
    await chat.say('go', /fine\n[^\n]*120 tokens in · 30 out/);
  });
});
