// Where the executable finds itself and what is embedded in it. Bun would put the names of this machine's files for `import.meta.url` and `__dirname`.
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';

const { main } = (globalThis as unknown as { readonly Bun: { readonly main: string } }).Bun;

export const executableUrl = pathToFileURL(main).href;
export const executableFolder = dirname(main);
