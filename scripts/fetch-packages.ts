import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Fetches packages from npm into a folder, without running install scripts. Returns null, or the reason for the failure
 * in one line.
 */
export function fetchPackages(folder: string, packages: readonly string[]): string | null {
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"private": true}');
    const args = ['install', '--ignore-scripts', '--no-fund', '--no-audit', ...packages];
    execFileSync('npm', args, { cwd: folder, stdio: 'ignore', timeout: 300_000 });
    return null;
  } catch (thrown) {
    return String(thrown).split('\n')[0] ?? '';
  }
}
