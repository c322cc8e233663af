import { describe, expect, it } from '@jest/globals';
import { HiError } from '../lib/errors.js';
import { nearest, pick } from '../lib/registry.js';

const MEMBERS = [{ name: 'openai' }, { name: 'anthropic' }, { name: 'gemini', aliases: ['google'] }];

describe('the registry', () => {
  it('finds a member by its name and by an alias', () => {
    expect(pick(MEMBERS, 'openai', 'provider')).toBe(MEMBERS[0]);
    expect(pick(MEMBERS, 'google', 'provider')).toBe(MEMBERS[2]);
  });

  it('names the nearest member if there is none with that name', () => {
    expect(() => pick(MEMBERS, 'opnai', 'provider')).toThrow(
      expect.objectContaining({
        code: 'config',
        message: "Unknown provider 'opnai'.",
        hint: "Did you mean 'openai'? Known: anthropic, gemini, openai.",
      }),
    );
  });

  it('lists the members if none is similar', () => {
    expect(() => pick(MEMBERS, 'xyzzy', 'provider')).toThrow(
      expect.objectContaining({ hint: 'Known: anthropic, gemini, openai.' }),
    );
    expect(() => pick(MEMBERS, 'xyzzy', 'provider')).toThrow(HiError);
  });

  it('names another place for the list of all if there is one', () => {
    const elsewhere = "'hi help' lists them.";
    const picking = (name: string, members = MEMBERS) => expect(() => pick(members, name, 'x', 'usage', elsewhere));
    picking('opnai').toThrow(expect.objectContaining({ hint: `Did you mean 'openai'? ${elsewhere}` }));
    picking('xyzzy').toThrow(expect.objectContaining({ hint: elsewhere }));
    picking('xyzzy', []).toThrow(expect.objectContaining({ hint: elsewhere }));
  });

  it.each([
    ['hist', ['history', 'help'], 'history'],
    ['stauts', ['status', 'skills'], 'status'],
    ['q', ['quit', 'help'], null],
    ['', ['quit'], null],
    ['quti', ['quit', 'help'], 'quit'],
    ['hlep', ['quit', 'help'], 'help'],
    ['nope', ['code', 'copy'], null],
    ['nope', ['copy', 'help', 'quit'], null],
    ['compct', ['compact', 'copy'], 'compact'],
    ['zz', [], null],
  ])('finds %j in %j for %j', (typed, known, expected) => {
    expect(nearest(typed, known)).toBe(expected);
  });
});
