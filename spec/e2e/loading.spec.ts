import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import { chatDriver } from '../support/chat.js';
import { RUNS_ON_NODE } from '../support/program.js';
import { canTrace } from '../support/strace.js';
import { KEY } from '../support/terminal.js';
import { itWhere } from '../support/where.js';

const start = chatDriver();

/** What a chat needs before and after an answer of prose; the rest of what a build names is for something else. */
const NEEDED = ['chat-command', 'core', 'openai-adapter', 'run', 'scripts', 'shared', 'keep-scripts'];
/** What reads the answer for a later recall, once the prompt is back. */
const INDEX = ['index-slice', 'open-reading', 'reading', 'recall'];

describe('hi chat', () => {
  itWhere(canTrace && RUNS_ON_NODE, 'strace cannot be used here')(
    'reads no part of the program that an answer of prose does not need',
    async () => {
      const chat = await start(() => ({
        text: 'Two *words*, a [link](https://example.org) and one - more.\n\n- An item',
      }));
      const log = join(chat.home.folder, 'opened');
      await chat.open({ under: ['strace', '-f', '-qq', '-e', 'trace=open,openat', '-o', log] });
      await chat.say('hello', 'An item');
      chat.terminal.type(`/quit${KEY.enter}`);
      await chat.terminal.exit();
      const opened = [...readFileSync(log, 'utf8').matchAll(/chunks\/(?!chunk-)([a-z-]+)-\w+\.c?js"/g)].map(
        ([, name]) => name,
      );
      expect(opened).toContain('openai-adapter');
      expect([...new Set(opened)].filter((name) => ![...NEEDED, ...INDEX].includes(name ?? ''))).toEqual([]);
    },
  );
});
