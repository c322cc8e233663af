import { describe, expect, it } from '@jest/globals';
import { editNotice, keptNotice, repairNotice } from '../../../lib/history/repair/repair.js';
import type { SalvageReport } from '../../../lib/history/repair/salvage.js';

describe('a notice', () => {
  const NONE: SalvageReport = {
    ...{ format: null, parts: 1, entries: 5, missing: 0, unverified: 0, repeated: 0, foreign: 0, changed: 0 },
    isRenumbered: false,
  };
  it.each<readonly [Partial<SalvageReport>, string]>([
    [{}, "The history was damaged. 5 entries were recovered. The damaged file is kept as 'k'."],
    [
      { entries: 1, missing: 1 },
      "The history was damaged. 1 entry was recovered. 1 entry is missing. The damaged file is kept as 'k'.",
    ],
    [
      { missing: 2, unverified: 3 },
      "The history was damaged. 5 entries were recovered. 2 entries are missing. 3 entries are left out, because no checksum confirms them; see 'u'. The damaged file is kept as 'k'.",
    ],
    [
      { entries: 0 },
      "The history was damaged. Nothing in it could be read. A new history was started. The damaged file is kept as 'k'.",
    ],
    [
      { entries: 0, unverified: 1 },
      "The history was damaged. A new history was started. 1 entry is left out, because no checksum confirms it; see 'u'. The damaged file is kept as 'k'.",
    ],
    [
      { format: 'plain JSON' },
      "The history was not one JSON array in zstd but plain JSON. 5 entries were recovered. The file is kept as 'k'.",
    ],
    [
      { format: 'plain JSON', missing: 1 },
      "The history was not one JSON array in zstd but plain JSON. The history was damaged. 5 entries were recovered. 1 entry is missing. The file is kept as 'k'.",
    ],
    [
      { parts: 2, repeated: 2, foreign: 1 },
      "The history was 2 files joined into one; they are one conversation now. 5 entries were recovered. 1 element is left out, because it is not a message. 2 entries were there twice. The file is kept as 'k'.",
    ],
    [
      { parts: 3, repeated: 1, unverified: 1, foreign: 2 },
      "The history was 3 files joined into one; they are one conversation now. The history was damaged. 5 entries were recovered. 1 entry is left out, because no checksum confirms it; see 'u'. 2 elements are left out, because they are not messages. 1 entry was there twice. The file is kept as 'k'.",
    ],
  ])('of a repair says what happened, what is lost and where the file is: %j', (report, text) => {
    expect(repairNotice({ ...NONE, ...report }, 'k', 'u')).toBe(text);
  });

  it('of an edited file says what was done to its elements', () => {
    const words = (report: Partial<SalvageReport>): string | undefined =>
      /^The history was edited by another program: (.*)\. The file stays unchanged until the next message\.$/.exec(
        editNotice({ ...NONE, ...report }),
      )?.[1];
    expect(words({ changed: 1 })).toBe('1 entry lacked fields, which were filled in');
    expect(words({ changed: 2, foreign: 1 })).toBe(
      '2 entries lacked fields, which were filled in; 1 element is left out, because it is not a message',
    );
    expect(words({ isRenumbered: true, foreign: 2 })).toBe(
      'entries got new ids, because theirs do not ascend or are too high; 2 elements are left out, because they are not messages',
    );
    expect(keptNotice('k')).toBe("The edited history is kept as 'k'.");
  });
});
