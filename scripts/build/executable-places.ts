// The paths of the executable and of its embedded files. Bun would insert paths of the build machine for `import.meta.url` and `__dirname`.
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';

const { main } = (globalThis as unknown as { readonly Bun: { readonly main: string } }).Bun;

export const executableUrl = pathToFileURL(main).href;
export const executableFolder = dirname(main);
