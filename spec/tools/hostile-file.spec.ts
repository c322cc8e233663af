import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../lib/chat/json.js';
import type { ToolCallPart, ToolResultPart } from '../../lib/chat/message.js';
import { CARELESS, HOSTILE, layOut, NO_TRACES, obedientModel, traces } from '../support/hostile-file.js';
import { type Bench, bench, runnerOn } from '../support/tool-runner.js';

let place: Bench;
beforeEach(() => {
  place = bench();
  layOut(place.folder);
});
afterEach(() => place.remove());

describe('a file with instructions for the model', () => {
  async function obey(
    run: (calls: readonly ToolCallPart[]) => Promise<{ readonly results: readonly ToolResultPart[] }>,
    call: (name: string, args: JsonObject) => ToolCallPart,
  ) {
    const first = (await run(obedientModel(null).map(([name, args]) => call(name, args)))).results;
    expect(first[0]?.result).toMatchObject({ content: HOSTILE });
    return (await run(obedientModel(JSON.stringify(first[0]?.result)).map(([name, args]) => call(name, args)))).results;
  }

  it('changes nothing if nobody can be asked', async () => {
    const { run, call } = runnerOn(place, { permissions: CARELESS });
    const results = await obey(run, call);
    expect(results.map(({ error }) => error?.startsWith('Not allowed'))).toEqual(results.map(() => true));
    expect(traces(place.folder)).toEqual(NO_TRACES);
  });

  it('changes nothing unless the user approves each call', async () => {
    const { run, call, questions } = runnerOn(place, { permissions: CARELESS, answer: { answer: 'no' } });
    const results = await obey(run, call);
    expect(results.map(({ error }) => error)).toEqual(results.map(() => 'The user said no.'));
    expect(questions).toHaveLength(results.length);
    expect(traces(place.folder)).toEqual(NO_TRACES);
  });

  it('cannot make a denied call run, even with -y', async () => {
    const deny = [
      'bash(touch:*)',
      'bash(sh:*)',
      'write_file',
      'list_files',
      'read_file(~/*)',
      'read_file(/proc/*)',
      'read_file(../outside)',
    ];
    const { run, call } = runnerOn(place, { permissions: { allow: [], ask: [], deny }, allowAll: true });
    const results = await obey(run, call);
    expect(results.filter(({ error }) => error === undefined)).toEqual([]);
    expect(traces(place.folder)).toEqual(NO_TRACES);
  });
});
