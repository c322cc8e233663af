import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

const VERSION = '1.4.5';
const FOLDER = resolve('node_modules/.cache/hi-bun');

/** The npm package of Bun for each supported platform, and the hash of its file. */
const PACKAGES = {
  'linux-x64': {
    name: 'bun-linux-x64',
    sha512: 'IWX9BELoGHAUtMonkeSaNaZwXzRk+oDw6Mk+HBFXd3KHYIBNBsIGRupMZPcgNoDbJpLu6gAJjIoIVPZtt1aJ1g==',
  },
  'linux-arm64': {
    name: 'bun-linux-aarch64',
    sha512: '4BXmsSKnjOrlGWqZV4x/oWa7AVoR+B6lCXddMzOAXBIm3t50eslg9wb66gmtW1AamEQ1l1CDvmmruysEhqOWMg==',
  },
  'linux-x64-musl': {
    name: 'bun-linux-x64-musl',
    sha512: '10QoW/YfTgnURaGEaHpJCiXjLI2e5iTtfVDaA5JKcyUzaa1cq6cVUY9/Uq5XkYzvtRjHLRe9Oj/lTDIQcxy8HQ==',
  },
  'linux-arm64-musl': {
    name: 'bun-linux-aarch64-musl',
    sha512: 'XCNc+WvvMAdNNb+OWTogpy+N9wm62fkVeEVLb6how0RZhW5LPi6c7BlkeVCuWps7XjEl2saFpHFa20/1E+PAHg==',
  },
  'darwin-arm64': {
    name: 'bun-darwin-aarch64',
    sha512: '4MIFXHmctH2EhAxLXm2/qxNtv17dFtLJylvaOCsrgq6KSqHTs6eW5YSrJjRbJxYUJaR901fsN8JfZOa+CsWpWQ==',
  },
  'darwin-x64': {
    name: 'bun-darwin-x64',
    sha512: 'qkLPMGHZM9NI6CeHTWwVezzmlo6cC4Ta7yUAjYIWXS366qQcOlcp75t2uZyiuVRBMPS0h9qE0tCcvCHGaFqjJg==',
  },
  'windows-x64': {
    name: 'bun-windows-x64',
    sha512: 'FNvply651vcE/GHgNWz6mZvhmkwBuu8Hw54oNzA+CQog+HW+542rXQmZqNHRkFxazD9L3xi+iTtvO3engAgJfw==',
  },
} as const;

export type Platform = keyof typeof PACKAGES;
export const PLATFORMS = Object.keys(PACKAGES) as readonly Platform[];

/** The platform of this machine. Throws if Bun has no executable for it. */
export function ownPlatform(): Platform {
  const report = process.report.getReport();
  const isMusl = process.platform === 'linux' && !('glibcVersionRuntime' in headerOf(report));
  const name = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}${isMusl ? '-musl' : ''}`;
  const found = PLATFORMS.find((platform) => platform === name);
  if (found === undefined) throw new Error(`No executable can be built on '${name}'. Known: ${PLATFORMS.join(', ')}.`);
  return found;
}

function headerOf(report: object): object {
  return 'header' in report && typeof report.header === 'object' && report.header !== null ? report.header : {};
}

/** The path of Bun for a platform, fetched from npm the first time. Throws when its package has another hash. */
export function bunFor(platform: Platform): string {
  const folder = join(FOLDER, `${VERSION}-${platform}`);
  const path = join(folder, 'package', 'bin', platform.startsWith('windows') ? 'bun.exe' : 'bun');
  if (existsSync(path)) return path;
  const { name, sha512 } = PACKAGES[platform];
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder, `@oven/${name}@${VERSION}`], {
    encoding: 'utf8',
    shell: process.platform === 'win32',
  }).trim();
  const file = join(folder, packed);
  const found = createHash('sha512').update(readFileSync(file)).digest('base64');
  if (found !== sha512) throw new Error(`'${file}' is not the expected package: sha512 ${found}.`);
  execFileSync('tar', ['-xzf', packed], { cwd: folder });
  rmSync(file);
  return path;
}
