import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { offsetInZone } from '../../lib/time-zone/time-zone-of-bun.js';
import { itWhere } from '../support/where.js';

interface Change {
  /** Seconds since 1970. */
  readonly at: number;
  /** Seconds ahead of UTC from then on. */
  readonly offset: number;
}

/** A TZif file (RFC 9636) of version 2 whose first block is empty. `rule` is its last line. */
function zoneFile(changes: readonly Change[], rule: string, first = 0): Buffer {
  const types = changes.length === 0 ? [first] : changes.map(({ offset }) => offset);
  const header = (count: number, kinds: number): Buffer => {
    const bytes = Buffer.alloc(44);
    bytes.write('TZif2');
    bytes.writeUInt32BE(count, 32);
    bytes.writeUInt32BE(kinds, 36);
    return bytes;
  };
  const times = Buffer.alloc(changes.length * 8);
  changes.forEach(({ at }, place) => void times.writeBigInt64BE(BigInt(at), place * 8));
  const infos = Buffer.alloc(types.length * 6);
  types.forEach((offset, place) => void infos.writeInt32BE(offset, place * 6));
  const table = Buffer.concat([times, Buffer.from(changes.map((_change, place) => place)), infos]);
  return Buffer.concat([header(0, 0), header(changes.length, types.length), table, Buffer.from(`\n${rule}\n`)]);
}

const changes = fc
  .uniqueArray(fc.integer({ min: -(2 ** 33), max: 2 ** 33 }), { minLength: 1, maxLength: 200 })
  .chain((times) =>
    fc
      .array(fc.integer({ min: -840, max: 840 }), { minLength: times.length, maxLength: times.length })
      .map((minutes) => times.sort((a, b) => a - b).map((at, place) => ({ at, offset: (minutes[place] ?? 0) * 60 }))),
  );

describe('the offset in a file of a time zone', () => {
  it('is that of the last change before the time', () => {
    fc.assert(
      fc.property(changes, fc.integer({ min: -(2 ** 34), max: 2 ** 34 }), (known, at) => {
        const found = offsetInZone(zoneFile(known, '<-03>3'), new Date(at * 1000));
        const last = known.findLast((change) => change.at <= at);
        expect(found).toBe(last === undefined ? null : last.offset / 60);
      }),
    );
  });

  it('is unknown after the last change of a zone that goes on changing', () => {
    const file = zoneFile(
      [
        { at: 0, offset: 3600 },
        { at: 1000, offset: 7200 },
      ],
      'CET-1CEST,M3.5.0,M10.5.0/3',
    );
    expect([-1, 0, 999, 1000].map((at) => offsetInZone(file, new Date(at * 1000)))).toEqual([null, 60, 60, null]);
  });

  it('is the only one of a zone without changes', () => {
    expect(offsetInZone(zoneFile([], 'UTC0'), new Date())).toBe(0);
    expect(offsetInZone(zoneFile([], '<+0530>-5:30', 19_800), new Date())).toBe(330);
    expect(offsetInZone(zoneFile([], 'CET-1CEST,M3.5.0,M10.5.0/3'), new Date())).toBeNull();
  });

  it('is unknown in a file that is not whole, or of another kind', () => {
    const file = zoneFile([{ at: 0, offset: 3600 }], 'UTC-1');
    const time = new Date(5000);
    expect(offsetInZone(file, time)).toBe(60);
    for (let size = 0; size < file.length - 7; size += 1) expect(offsetInZone(file.subarray(0, size), time)).toBeNull();
    expect(offsetInZone(Buffer.concat([Buffer.from('TZif\0'), file.subarray(5)]), time)).toBeNull();
    expect(offsetInZone(Buffer.from('x'.repeat(200)), time)).toBeNull();
  });

  itWhere(existsSync('/usr/share/zoneinfo/Europe/Berlin'), 'no files of time zones')(
    'is what JavaScript says of the zones of this machine',
    () => {
      const zones = ['UTC', 'Europe/Berlin', 'Asia/Tokyo', 'Asia/Kolkata', 'America/New_York', 'Australia/Lord_Howe'];
      for (const zone of zones) {
        const file = readFileSync(join('/usr/share/zoneinfo', zone));
        const parts = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' });
        for (let day = 0; day < 365; day += 1) {
          const time = new Date(Date.UTC(2025, 0, 1, 1) + day * 86_400_000);
          const name = parts.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value ?? '';
          const [, sign, hours = 0, minutes = 0] = /([+-])(\d+):(\d+)/.exec(name) ?? [];
          const distance = Number(hours) * 60 + Number(minutes);
          expect([null, sign === '-' ? -distance : distance]).toContain(offsetInZone(file, time));
        }
      }
    },
  );
});
