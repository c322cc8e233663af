import { describe, expect, it } from '@jest/globals';
import { advanceCut, cutBefore, lastGroup, validCuts } from '../../lib/view/shorten.js';
import { view } from '../../lib/view/view.js';
import { Log } from '../support/log.js';

function toolTurn() {
  const log = new Log();
  log.user('go');
  log.tools('one', 'two');
  log.tools('three');
  return { log, messages: view(log.entries, 1).messages };
}

describe('cut', () => {
  it('never falls between a call and its result', () => {
    expect(validCuts(toolTurn().messages)).toEqual([true, true, false, true, false, true]);
  });

  it('never falls between results in separate messages', () => {
    const log = new Log();
    log.user('go');
    log.message('assistant', [
      { type: 'tool_call', call_id: 'a', name: 'bash', args: {} },
      { type: 'tool_call', call_id: 'b', name: 'bash', args: {} },
    ]);
    log.message('tool', [{ type: 'tool_result', call_id: 'a', name: 'bash', result: 1 }]);
    log.message('tool', [{ type: 'tool_result', call_id: 'b', name: 'bash', result: 2 }]);
    expect(validCuts(view(log.entries, 1).messages)).toEqual([true, true, false, false, true]);
  });

  it('may fall anywhere around a result without its call', () => {
    const log = new Log();
    log.user('go');
    const lone = log.message('tool', [{ type: 'tool_result', call_id: 'gone', name: 'bash', result: 1 }]);
    expect(validCuts([lone, lone, lone])).toEqual([true, true, true, true]);
  });

  it('moves back to keep a pair whole', () => {
    const cuts = validCuts(toolTurn().messages);
    expect([0, 1, 2, 3, 4, 5].map((index) => cutBefore(cuts, index))).toEqual([0, 1, 1, 3, 3, 5]);
    expect(cutBefore(cuts, -3)).toBe(0);
  });

  it('moves forward to the first allowed place, or as far as it may', () => {
    const cuts = validCuts(toolTurn().messages);
    expect(advanceCut(cuts, 0, 3, (at) => at >= 1)).toBe(1);
    expect(advanceCut(cuts, 0, 3, (at) => at >= 2)).toBe(3);
    expect(advanceCut(cuts, 0, 3, () => false)).toBe(3);
    expect(advanceCut(cuts, 5, 3, () => false)).toBe(5);
  });

  it('knows the last group, which the model has not read yet', () => {
    const { log, messages } = toolTurn();
    expect(lastGroup(messages)).toBe(3);
    log.answer('done');
    expect(lastGroup(view(log.entries, null).messages)).toBe(5);
  });
});
