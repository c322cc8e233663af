declare const __HI_VERSION__: string;

/** The version of the package this program was built from. */
export const VERSION = typeof __HI_VERSION__ === 'string' ? __HI_VERSION__ : '0.0.0';

/** Whether a command line only asks for the version. */
export function asksForVersion(argv: readonly string[]): boolean {
  return argv.length === 1 && (argv[0] === '--version' || argv[0] === '-v');
}
