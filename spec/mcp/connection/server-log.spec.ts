import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { MessageLines } from '../../../lib/mcp/connection/process-transport.js';
import { ServerLog } from '../../../lib/mcp/connection/spawn-server.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hi-spec-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const sizes = (): readonly number[] => readdirSync(folder).map((name) => statSync(join(folder, name)).size);

describe('the log of a server', () => {
  it('is rotated when it is long, so that no server fills the disk', () => {
    const log = new ServerLog(folder, 'notes');
    const line = `${'x'.repeat(9_999)}\n`;
    for (let count = 0; count < 1000; count += 1) log.write(line);
    log.close();
    expect(readdirSync(folder).sort()).toEqual(['notes.log', 'notes.log.old']);
    expect(Math.max(...sizes())).toBeLessThan(1024 * 1024 + line.length);
    expect(log.lastLines.length).toBeLessThanOrEqual(1000);
  });
});

describe('the lines of a server', () => {
  it('without an end are dropped at a limit', () => {
    const log = new ServerLog(folder, 'notes');
    const taken: unknown[] = [];
    let given = 0;
    const lines = new MessageLines(
      (message) => taken.push(message),
      log,
      () => {
        given += 1;
      },
    );
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    // The same megabyte: only what is kept of it costs memory.
    for (let count = 0; count < 65; count += 1) lines.take(chunk);
    log.close();
    expect({ taken, given }).toEqual({ taken: [], given: 1 });
    expect(log.lastLines).toContain('[hi] it was ended: it sent a line of more than 67108864 bytes');
    expect(sizes().every((size) => size < 1000)).toBe(true);
  });
});
