import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import { chatDriver } from '../support/chat.js';
import { RUNS_ON_NODE } from '../support/program.js';
import { canTrace } from '../support/strace.js';
import { KEY } from '../support/terminal.js';
import { itWhere } from '../support/where.js';

const start = chatDriver();

describe('hi chat', () => {
  itWhere(canTrace && RUNS_ON_NODE, 'strace cannot be used here')(
    'reads no script but its own and that of its SDK for an answer of prose',
    async () => {
      const chat = await start(() => ({
        text: 'Two *words*, a [link](https://example.org) and one - more.\n\n- An item',
      }));
      const log = join(chat.home.folder, 'opened');
      await chat.open({ under: ['strace', '-f', '-qq', '-e', 'trace=open,openat', '-o', log] });
      await chat.say('hello', 'An item');
      chat.terminal.type(`/quit${KEY.enter}`);
      await chat.terminal.exit();
      const opened = [...readFileSync(log, 'utf8').matchAll(/scripts\/([a-z-]+)-\w{16}\.cjs"/g)].map(
        ([, name]) => name,
      );
      expect(new Set(opened)).toEqual(new Set(['program', 'openai']));
    },
  );
});
