import type { Platform } from '../build/bun.js';
import { type Project, synopsis } from './manifests.js';

/** Homebrew's names of systems and processors. */
const BLOCKS = [
  ['on_macos', 'on_arm', 'darwin-arm64'],
  ['on_macos', 'on_intel', 'darwin-x64'],
  ['on_linux', 'on_arm', 'linux-arm64'],
  ['on_linux', 'on_intel', 'linux-x64'],
] as const satisfies readonly (readonly [string, string, Platform])[];

/** The SHA-256 hashes of the files to fetch: the executables and the manual. */
export interface Hashes {
  readonly executables: Readonly<Partial<Record<Platform, string>>>;
  readonly manual: string;
}

/**
 * The formula for the files under an address, each executable as `hi-PLATFORM` next to `hi.1`. Throws if Homebrew could
 * install none of them.
 */
export function formula(
  address: string,
  { version, description, license }: Project,
  { executables, manual }: Hashes,
): string {
  const folder = address.replace(/\/$/, '');
  const systems = [...new Set(BLOCKS.map(([system]) => system))].flatMap((system) => {
    const found = BLOCKS.filter(([on, , platform]) => on === system && executables[platform] !== undefined);
    return found.length === 0
      ? []
      : [`  ${system} do`, ...found.flatMap((block) => source(folder, block, executables)), '  end', ''];
  });
  if (systems.length === 0)
    throw new Error('No executable for macOS or Linux was built, so there is nothing to install.');
  return [
    'class Hi < Formula',
    `  desc ${quoted(described(description))}`,
    `  homepage ${quoted(address)}`,
    `  version ${quoted(version)}`,
    `  license ${quoted(license)}`,
    '',
    ...systems,
    '  resource "manual" do',
    `    url ${quoted(`${folder}/hi.1`)}`,
    `    sha256 ${quoted(manual)}`,
    '  end',
    '',
    '  def install',
    '    bin.install Dir["hi-*"].first => "hi"',
    '    generate_completions_from_executable(bin/"hi", "completion")',
    '    resource("manual").stage { man1.install "hi.1" }',
    '  end',
    '',
    '  test do',
    '    assert_match version.to_s, shell_output("#{bin}/hi --version")',
    '  end',
    'end',
    '',
  ].join('\n');
}

function source(
  folder: string,
  [, processor, platform]: (typeof BLOCKS)[number],
  executables: Hashes['executables'],
): readonly string[] {
  return [
    `    ${processor} do`,
    `      url ${quoted(`${folder}/hi-${platform}`)}`,
    `      sha256 ${quoted(executables[platform] ?? '')}`,
    '    end',
  ];
}

/** The description as Homebrew requires it: one line of at most 80 characters, without an article or a full stop. */
function described(description: string): string {
  return synopsis(description)
    .replace(/^\p{Ll}/u, (letter) => letter.toUpperCase())
    .slice(0, 80);
}

/** A Ruby string literal without interpolation. */
function quoted(text: string): string {
  return `"${text.replaceAll(/["\\#]/g, '\\$&')}"`;
}
