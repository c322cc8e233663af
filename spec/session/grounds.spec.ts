import { rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { HistoryStore } from '../../lib/history/store.js';
import { Recall } from '../../lib/recall/recall.js';
import { groundsOf, plain, statementsWith } from '../../lib/session/grounds.js';
import { fileIn, openIn, quickFolder, zstd } from '../support/history.js';
import { Log } from '../support/log.js';

const signal = new AbortController().signal;
const PROSE = 'The port is 8080 [#1]. They like   Blue tea [#3 #4].\nNothing else.';
const FACTS = [
  { kind: 'fact', text: 'The server is named astrolabe', ids: [3] },
  { kind: 'pref', text: 'short answers' },
];

let folder: string;
let history: HistoryStore;
beforeEach(() => {
  folder = quickFolder();
});
afterEach(async () => {
  await history.close();
  rmSync(folder, { recursive: true });
});

/** A conversation whose older part is summarised so, and what was undone in it. */
async function talk(content: string | null = `${PROSE}\n\nFacts on record:\n- fact: x`): Promise<Recall> {
  const log = new Log();
  log.exchange('Which port?', 'The port is 8080.');
  log.exchange('We named the server astrolabe and drink blue tea.', 'Noted, blue tea.');
  log.exchange('Regensburg is where the astrolabe stands.', 'I see, Regensburg.');
  log.exchange('and the astrolabe now?', 'It runs.');
  log.undo(1);
  const block = {
    ...{ type: 'compress', id: 10, at: '2026-02-01T00:00:00Z', content, strategy: 's', source: 'model', first_kept: 7 },
    ...{ messages_compacted: 6, messages_kept: 2, tokens_before: 9, tokens_after: 5 },
    state: { cut: { turn: 7, id: 7 }, facts: FACTS, prose: PROSE.length },
  };
  const entries = content === null ? log.entries : [...log.entries, block];
  writeFileSync(fileIn(folder), zstd(Buffer.from(JSON.stringify(entries))));
  history = await openIn(folder);
  return new Recall({ folder: '', history, writes: false });
}

describe('the statements of the summary', () => {
  it('are found by a text, by all words, or by the id of a message they rest on', async () => {
    await talk();
    const found = (text: string): readonly string[] =>
      (statementsWith(history, text) ?? []).map((one) => one.slice(0, 12));
    expect(found('port is')).toEqual(['The port is ']);
    expect(found('BLUE  TEA')).toEqual(['They like   ']);
    expect(found('tea like')).toEqual(['They like   ']);
    expect(found('astrolabe')).toEqual(['- fact: The ']);
    expect(found('short')).toEqual(['- pref: shor']);
    expect(found('#3')).toEqual(['They like   ', '- fact: The ']);
    expect(found('#1')).toEqual(['The port is ']);
    expect([found('#9'), found('tea port'), found('?!'), found('fact: x')]).toEqual([[], [], [], []]);
  });

  it('are none without a summary', async () => {
    await talk(null);
    expect(statementsWith(history, 'port')).toBeNull();
    await history.close();
    await talk('');
    expect(statementsWith(history, 'port')).toBeNull();
  });
});

describe('the sources of a statement', () => {
  it('are the messages that it cites, even undone ones, and it says which are gone', async () => {
    const finder = await talk();
    const { messages, ...rest } = await groundsOf('The port is 8080 [#1 #4 #99].', history, finder, signal);
    expect(messages.map(({ message, isUndone }) => [message.id, isUndone])).toEqual([
      [1, true],
      [4, false],
    ]);
    expect(rest).toEqual({ statement: 'The port is 8080 [#1 #4 #99].', isNamed: true, missing: [99] });
  });

  it('are otherwise up to three messages that match it best and are not in view', async () => {
    const finder = await talk();
    const { messages, isNamed, missing } = await groundsOf(
      '- fact: The astrolabe of Regensburg [#98]',
      history,
      finder,
      signal,
    );
    expect([isNamed, missing]).toEqual([false, [98]]);
    const ids = messages.map(({ message }) => message.id);
    expect(ids[0]).toBe(5);
    expect(ids.length).toBeLessThanOrEqual(3);
    expect(ids.some((id) => id >= 7)).toBe(false);
    expect(messages.every(({ isUndone }) => !isUndone)).toBe(true);
  });

  it('are searched for by its words, without its kind, its ids and quotation marks', () => {
    expect(plain('- fact: the “port” is [#12 #13] 8080').replace(/\s+/g, ' ')).toBe('the port is 8080');
    expect(plain('* the port: 8080')).toBe('the port: 8080');
    expect(plain('no - fact: here')).toBe('no - fact: here');
  });
});
