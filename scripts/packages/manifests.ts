import type { Platform } from '../build/bun.js';

/** The fields of the project's `package.json` that the other manifests share. */
export interface Project {
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly engines: object;
  readonly optionalDependencies?: object;
}

/** The first part of a description without an article, which neither Homebrew nor Debian allows at the beginning. */
export function synopsis(description: string): string {
  const [first = ''] = description.split(/[:.](?:\s|$)/);
  return first.replace(/^(?:an?|the) /i, '');
}

/** The package that starts the executable if there is one for the platform, else the JavaScript. */
export const LAUNCHER = 'hi-chat-native';

/** The package that holds the executable of a platform. */
export function packageOf(platform: Platform): string {
  return `hi-chat-${platform}`;
}

/** The executable's name in its package. Windows needs an extension. */
export function programOf(platform: Platform): string {
  return platform.startsWith('windows') ? 'hi.exe' : 'hi';
}

/** The manifest of the package with the executable of a platform; npm installs it on no other. */
export function platformManifest(platform: Platform, project: Project): object {
  const [system = '', cpu = '', libc] = platform.split('-');
  return {
    name: packageOf(platform),
    version: project.version,
    description: `${project.description} The executable for ${platform}, without Node.`,
    license: project.license,
    os: [system === 'windows' ? 'win32' : system],
    cpu: [cpu],
    ...(system === 'linux' && { libc: [libc ?? 'glibc'] }),
    // Next to the launcher, a second program of that name would replace it.
    ...(system === 'windows' && { bin: { hi: programOf(platform) } }),
    files: [programOf(platform), 'SHA256SUMS', 'LEGAL.txt', 'LICENSE'],
    preferUnplugged: true,
  };
}

/**
 * The manifest of the launcher. It is a shell script, because starting Node only to start something else would take
 * longer than the executable saves. There is no install script, because npm 12 does not run any. Windows has no shell
 * for it: there the platform's package is the program.
 */
export function launcherManifest(platforms: readonly Platform[], project: Project): object {
  const { version, description, license, engines, optionalDependencies } = project;
  const chosen = platforms.filter((platform) => !platform.startsWith('windows'));
  return {
    name: LAUNCHER,
    version,
    description: `${description} As an executable if there is one, else on Node.`,
    license,
    os: ['linux', 'darwin'],
    bin: { hi: 'hi' },
    type: 'module',
    engines,
    files: ['hi', 'dist', 'docs', 'LICENSE'],
    optionalDependencies: {
      ...Object.fromEntries(chosen.map((platform) => [packageOf(platform), version])),
      ...optionalDependencies,
    },
  };
}
