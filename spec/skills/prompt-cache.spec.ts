import { describe, expect, it } from '@jest/globals';
import { conversation, folderWith, open, skillFile } from './support.js';

const NAMES = ['git', 'docker', 'sql', 'css', 'regex', 'nginx'];
const FILES = Object.fromEntries(
  NAMES.map((name) => [`${name}.md`, skillFile(name, `About ${name}.`, `Use ${name}.`)]),
);

/** Fifty messages: subjects that come, stay a while, alternate, pause and come back. */
const TALK = [
  ...['git', 'hm', 'git', 'ok', 'git', 'git and docker', 'docker', 'hm', 'docker', 'git'],
  ...['thanks', 'hello', 'a joke', 'another', 'haha', 'sql', 'hm', 'ok', 'sql', 'ok'],
  ...['sql and css', 'css', 'sql', 'css', 'sql', 'css', 'ok', 'css', 'hm', 'ok'],
  ...['regex', 'nginx', 'regex', 'nginx', 'hm', 'ok', 'bye', 'hello', 'git', 'ok'],
  ...['git', 'docker', 'git', 'docker', 'sql', 'git', 'thanks', 'ok', 'hm', 'bye'],
];

describe("a provider's prompt cache over fifty turns", () => {
  async function requests(): Promise<readonly (readonly string[])[]> {
    const library = await open(folderWith(FILES), { mode: 'matched' });
    const talk = conversation(library);
    const sent: (readonly string[])[] = [];
    for (const text of TALK) {
      const { record } = await talk.say(text);
      sent.push(
        await library.texts(record.active, { form: 'whole', reader: 'read_file' }, new AbortController().signal),
      );
    }
    return sent;
  }

  it('is invalidated only by turns in which a skill comes or goes', async () => {
    const sent = await requests();
    const changes = sent.filter((blocks, turn) => turn > 0 && !same(blocks, sent[turn - 1] ?? []));
    const sets = sent.filter(
      (blocks, turn) => turn > 0 && !same([...blocks].sort(), [...(sent[turn - 1] ?? [])].sort()),
    );
    expect(sent).toHaveLength(50);
    expect(changes).toHaveLength(sets.length);
  });

  it('is invalidated 18 times, half as often as by sending what each message matches', async () => {
    const sent = await requests();
    const ours = sent.filter((blocks, turn) => turn > 0 && !same(blocks, sent[turn - 1] ?? [])).length;
    const matches = TALK.map((text) => NAMES.filter((name) => text.includes(name)));
    const naive = matches.filter((names, turn) => turn > 0 && !same(names, matches[turn - 1] ?? [])).length;
    expect({ ours, naive }).toEqual({ ours: 18, naive: 37 });
  });

  it('stays valid for every skill before the one that went', async () => {
    const sent = await requests();
    for (const [turn, blocks] of sent.entries()) {
      const before = sent[turn - 1] ?? [];
      const gap = before.findIndex((block) => !blocks.includes(block));
      const kept = gap === -1 ? before : before.slice(0, gap);
      expect(blocks.slice(0, kept.length)).toEqual(kept);
    }
  });
});

function same(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((block, index) => block === other[index]);
}
