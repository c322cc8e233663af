import { describe, expect, it } from '@jest/globals';
import { systemFindings } from '../../lib/cli/commands/check-system.js';

const told = 'GNU bash, version 5.2.15(1)-release (x86_64-pc-linux-gnu)\n';
const fails = (): string => {
  throw new Error('ENOENT');
};

describe('the system check of hi config check', () => {
  it('names the bash in use, and nothing else on Linux', () => {
    expect(systemFindings('linux', () => told)).toEqual([
      { part: 'bash', ok: expect.stringMatching(/^\/\S+bash, 5\.2\.15\(1\)-release$/) },
    ]);
  });

  it('says what does not work without bash, and how to install it', () => {
    expect(systemFindings('linux', fails)).toEqual([
      { part: 'bash', note: expect.stringMatching(/^none, so .*package manager$/) },
    ]);
    expect(systemFindings('win32', fails)[0]).toEqual({
      part: 'bash',
      note: expect.stringContaining('Git for Windows'),
    });
  });

  it('tells the bash of WSL from that of Git for Windows', () => {
    expect(systemFindings('win32', () => told)[0]).toEqual({
      part: 'bash',
      note: expect.stringMatching(/WSL.*Git for Windows/),
    });
    const msys = 'GNU bash, version 5.2.37(1)-release (x86_64-pc-msys)\n';
    expect(systemFindings('win32', () => msys)[0]).toEqual({
      part: 'bash',
      ok: expect.stringMatching(/^\/\S+bash, 5\.2\.37\(1\)-release$/),
    });
  });

  it.each(['darwin', 'win32'] as const)('is what is not as on Linux on %s', (platform) => {
    const [, ...rest] = systemFindings(platform, () => told);
    expect(rest.length).toBeGreaterThan(0);
    expect(rest.every((finding) => finding.part === 'system' && 'note' in finding)).toBe(true);
  });
});
