import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { ProgressLine } from '../../../lib/cli/base/output.js';
import { downloadText } from '../../../lib/cli/init/first-model.js';

function drawn(stream: object, after = 0): string {
  const stderr = Object.assign(new PassThrough(), stream);
  const line = new ProgressLine({ stderr, env: {} }, { after });
  line.showShare('Reading', 1, 3);
  line.showShare('Reading', 2, 3);
  line.erase();
  line.erase();
  return String(stderr.read() ?? '');
}

describe('the progress line', () => {
  it('is drawn in place, not with every call, and erased', () => {
    expect(drawn({ isTTY: true, columns: 80 })).toBe('\rReading: 33%\x1b[K\r\x1b[K');
  });

  it('is narrower than the terminal', () => {
    expect(drawn({ isTTY: true, columns: 8 })).toBe('\rReading\x1b[K\r\x1b[K');
  });

  it.each([
    ['a log', {}, 0],
    ['what is over in time', { isTTY: true }, 60_000],
  ])('is not drawn for %s', (_, stream, after) => expect(drawn(stream, after)).toBe(''));
});

describe('the download line', () => {
  const speed = { began: 0, elapsed: 10_000 };

  it('shows progress, total size, speed and remaining time', () => {
    expect(downloadText('m', { done: 500e6, all: 2e9 }, speed, 100)).toBe(
      'Downloading m ▕██████░░░░░░░░░░░░░░░░░░▏ 25% · 500 MB of 2 GB · 50 MB/s · 30s left',
    );
  });

  it('has a shorter bar, or none, in a narrow terminal', () => {
    expect(downloadText('m', { done: 1e9, all: 2e9 }, speed, 70)).toMatch(/^Downloading m ▕█+░+▏ 50%/);
    expect(downloadText('m', { done: 1e9, all: 2e9 }, speed, 70).length).toBeLessThanOrEqual(70);
    expect(downloadText('m', { done: 1e9, all: 2e9 }, speed, 40)).toMatch(/^Downloading m 50%/);
  });

  it('counts the speed of a resumed download from where it resumed', () => {
    const text = downloadText('m', { done: 1.5e9, all: 2e9 }, { began: 1e9, elapsed: 10_000 }, 100);
    expect(text).toMatch(/75% · 1\.5 GB of 2 GB · 50 MB\/s · 10s left$/);
  });

  it('leaves out what is not known yet', () => {
    expect(downloadText('m', { done: 0, all: null }, { began: 0, elapsed: 0 }, 80)).toBe('Downloading m …');
    expect(downloadText('m', { done: 0, all: 2e9 }, { began: 0, elapsed: 50 }, 80)).toMatch(/0% · 0 bytes of 2 GB$/);
    expect(downloadText('m', { done: 2e9, all: 2e9 }, speed, 80)).toBe('Checking m …');
  });
});
