// The paths of the executable and of its embedded files. Bun would insert paths of the build machine for
// `import.meta.url` and `__dirname`.

interface Places {
  readonly main: string;
  pathToFileURL(path: string): URL;
}

// Bun's own function, because every part of the program imports this file: `node:url` would be loaded for the version
// too.
const { main, pathToFileURL } = (globalThis as unknown as { readonly Bun: Places }).Bun;

export const executableUrl = pathToFileURL(main).href;
export const executableFolder = main.replace(/[\\/][^\\/]*$/, '');

/** One of the modules that are evaluated when they are needed. */
export const lateModule = (name: string): object => require(`${executableFolder}/${name}.js`);
