// Builds the program: one minified ES module bundle with code splitting, so that each command, vendor SDK and rare
// feature is a chunk of its own that is read only when it is needed.
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const define = { __HI_VERSION__: JSON.stringify(version) };

// Modules whose exports are plain data made of heavy things: the program gets the data.
const EVALUATED = [
  'lib/config/model-table.ts',
  'lib/cli/config-schema.ts',
  'lib/cli/help-text.ts',
  'lib/tools/specs.ts',
];

/** What a module of ours exports, run here and now. */
async function evaluate(path) {
  // Beside the sources, so that packages that are not bundled are found.
  const folder = mkdtempSync(join(root, '.build-'));
  try {
    const outfile = join(folder, 'module.mjs');
    await build({
      absWorkingDir: root,
      entryPoints: [path],
      outfile,
      define,
      bundle: true,
      format: 'esm',
      platform: 'node',
      packages: 'external',
      logLevel: 'warning',
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Ajv's code for some schemas, as a module that exports a check for each name. */
function standaloneModule(schemas, options) {
  const named = Object.entries(schemas).map(([$id, schema]) => ({ ...schema, $id }));
  const ajv = new Ajv({ ...options, schemas: named, code: { source: true, esm: true, lines: false } });
  return standalone(ajv, Object.fromEntries(Object.keys(schemas).map((name) => [name, name])));
}

/**
 * The same schema without its words, each section and everything that comes more than once a definition: ajv makes a function of each, and those of
 * sections that a file does not have are never compiled.
 */
function inParts(schema) {
  const WORDS = ['$schema', 'title', 'description', 'default'];
  const bare = (part, isMap) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    const kept = Object.entries(part).filter(([key]) => isMap || !WORDS.includes(key));
    return Object.fromEntries(kept.map(([key, value]) => [key, bare(value, key === 'properties')]));
  };
  const whole = bare(schema, false);
  const times = new Map();
  const count = (part) => {
    const text = JSON.stringify(part);
    times.set(text, (times.get(text) ?? 0) + 1);
    Object.values(part.properties ?? {}).forEach(count);
  };
  Object.values(whole.properties).forEach(count);
  const definitions = {};
  const refer = (part) => {
    const text = JSON.stringify(part);
    if (part.properties === undefined && times.get(text) < 2) return part;
    const name = `part${[...times.keys()].indexOf(text)}`;
    definitions[name] ??= { ...part, ...(part.properties && { properties: mapped(part.properties) }) };
    return { $ref: `#/definitions/${name}` };
  };
  const mapped = (properties) =>
    Object.fromEntries(Object.entries(properties).map(([key, part]) => [key, refer(part)]));
  return { ...whole, properties: mapped(whole.properties), definitions };
}

/** The modules of ours that are loaded at run time, on demand. */
function loadedOnDemand() {
  const sources = readdirSync(join(root, 'lib'), { recursive: true })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(root, 'lib', file));
  const imports = (file) => [...readFileSync(file, 'utf8').matchAll(/import\('(\.[^']+)\.js'\)/g)];
  return new Set(sources.flatMap((file) => imports(file).map(([, path]) => `${resolve(dirname(file), path)}.ts`)));
}

// What nearly every run needs is one chunk: a module shared by some of the parts that are loaded on demand, but not by others, would be a chunk
// of its own, and each costs a start more than what is in it. So each of those parts is made to share all of it.
const CORE = join(root, 'lib/cli/run.ts');
const ALONE = [CORE, ...EVALUATED.map((path) => join(root, path))];

// What the adapters share is needed whenever one of them is.
const SHARED = [
  'answer',
  'attachment',
  'call-ids',
  'console',
  'fetch',
  'hand-over',
  'key',
  'stream',
  'vision',
  'server-sent-events',
  'api-base',
].map((name) => join(root, 'lib/providers', `${name}.ts`));

const oneCore = {
  name: 'one core',
  setup({ onLoad }) {
    const parts = loadedOnDemand();
    onLoad({ filter: /\/lib\/.*\.ts$/ }, ({ path }) => {
      const others = path === CORE ? SHARED : parts.has(path) && !ALONE.includes(path) ? [CORE] : [];
      if (others.length === 0) return undefined;
      const imports = others.map((other) => `import ${JSON.stringify(other)};`);
      return { contents: [...imports, readFileSync(path, 'utf8')].join('\n'), loader: 'ts' };
    });
  },
};

// Node's modules that a start can do without: their functions load them when they are called.
const LATE = [
  'child_process',
  'crypto',
  'http',
  'https',
  'module',
  'net',
  'os',
  'readline',
  'timers/promises',
  'tls',
  'zlib',
];

// An `import` of one of Node's modules builds a facade that touches every export, and `fs` loads its streams for that; this way only what is used is.
// Each importer has its own, for one that is shared by some chunks would be a chunk of its own.
const nodeModules = {
  name: "Node's own modules",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^(node:)?[a-z_/0-9]+$/ }, ({ path, kind, importer }) => {
      const name = path.replace(/^node:/, '');
      if (!builtinModules.includes(name) || kind === 'dynamic-import') return undefined;
      const namespace = kind === 'require-call' ? 'node-required' : 'node-imported';
      return { path: name, namespace, suffix: `?${importer}`, sideEffects: false };
    });
    const taken = (name) => `/* @__PURE__ */ process.getBuiltinModule(${JSON.stringify(name)})`;
    const exportsOf = (name) =>
      Object.entries(process.getBuiltinModule(name)).filter(([key]) => /^[A-Za-z]\w*$/.test(key) && key !== 'default');
    onLoad({ filter: /.*/, namespace: 'node-required' }, ({ path }) => {
      if (!LATE.includes(path)) return { contents: `module.exports = ${taken(path)};` };
      const lines = exportsOf(path).map(([key]) => `get ${key}() { return ${taken(path)}.${key}; },`);
      return { contents: `module.exports = {\n${lines.join('\n')}\n};` };
    });
    onLoad({ filter: /.*/, namespace: 'node-imported' }, ({ path }) => {
      const lines = exportsOf(path).map(([key, value]) => {
        const isLate = LATE.includes(path) && typeof value === 'function' && /^[a-z]/.test(key);
        const its = isLate ? `(...args) => ${taken(path)}.${key}(...args)` : `/* @__PURE__ */ (() => node.${key})()`;
        return `const its_${key} = ${its}; export { its_${key} as ${key} };`;
      });
      return { contents: [`const node = ${taken(path)};`, 'export default node;', ...lines].join('\n') };
    });
  },
};

// What the adapters call of the SDKs. A client makes an object for every part of its vendor's API, so that no bundler can tell which are used, and to
// compile them all takes longer than a request: the others are empty classes in the bundle.
const CALLED = {
  openai: ['chat', 'models', 'responses', 'shared', 'index'],
  '@anthropic-ai/sdk': ['messages', 'models', 'shared', 'index', 'top-level'],
};

const onlyCalled = {
  name: 'only called',
  setup({ onLoad }) {
    for (const [sdk, parts] of Object.entries(CALLED)) {
      const folder = join(root, 'node_modules', sdk);
      const called = new RegExp(`^resources/(?:${parts.join('|')})[./]`);
      const filter = new RegExp(`/node_modules/${sdk}/(?:resources/.*|lib/.*(?:Stream|Runner|Accumulator))\\.mjs$`);
      onLoad({ filter }, async ({ path }) => {
        if (called.test(relative(folder, path))) return undefined;
        const [exported, errors] = await Promise.all([
          import(pathToFileURL(path).href),
          import(pathToFileURL(join(folder, 'core', 'error.mjs')).href),
        ]);
        const lines = Object.entries(exported).map(([name, value]) => {
          // Which error a vendor's code stands for is asked of these classes too.
          const base = value.prototype instanceof Error ? Object.getPrototypeOf(value).name : null;
          if (base !== null && !(base in errors))
            throw new Error(`${path}: ${name} extends ${base}, which is not in core/error.mjs.`);
          return `export class ${name} ${base === null ? '' : `extends errors.${base} `}{}`;
        });
        const from = JSON.stringify(join(folder, 'core', 'error.mjs'));
        return {
          contents: [`import * as errors from ${from};`, ...lines].join('\n'),
          loader: 'js',
          resolveDir: folder,
        };
      });
    }
  },
};

// So small that each importer has its own: shared, they would be a chunk each.
const copied = {
  name: 'copied',
  setup({ onResolve }) {
    const SMALL = {
      './version.js': 'lib/cli/version.ts',
      'ajv/dist/runtime/ucs2length': 'node_modules/ajv/dist/runtime/ucs2length.js',
    };
    onResolve({ filter: /^(\.\/version\.js|ajv\/dist\/runtime\/ucs2length)$/ }, ({ path, importer }) => ({
      path: join(root, SMALL[path]),
      suffix: `?${importer}`,
    }));
  },
};

// A package that is loaded on demand, because evaluating it may fail, but that nearly every run needs: it is in the core, and evaluated when it is asked for.
const AT_HAND = { 'env-paths': 'lib/config/paths.ts' };

const atHand = {
  name: 'at hand',
  setup({ onLoad, onResolve }) {
    for (const [name, path] of Object.entries(AT_HAND)) {
      onResolve({ filter: new RegExp(`^at-hand:${name}$`) }, () => ({ path: name, namespace: 'at-hand' }));
      onLoad({ filter: new RegExp(`/${path.replaceAll('.', '\\.')}$`) }, () => {
        const text = readFileSync(join(root, path), 'utf8').replace(`import('${name}')`, `at_hand()`);
        return { contents: `import { at_hand } from 'at-hand:${name}';\n${text}`, loader: 'ts' };
      });
    }
    onLoad({ filter: /.*/, namespace: 'at-hand' }, ({ path }) => ({
      contents: `exports.at_hand = async () => require('${path}');`,
      resolveDir: root,
    }));
  },
};

const atBuildTime = {
  name: 'at build time',
  setup({ onLoad }) {
    for (const path of EVALUATED) {
      onLoad({ filter: new RegExp(`/${path.replaceAll('.', '\\.')}$`) }, async () => {
        // Large data is read faster from a text than from an expression.
        const lines = Object.entries(await evaluate(path)).map(
          ([name, value]) => `export const ${name} = JSON.parse(${JSON.stringify(JSON.stringify(value))});`,
        );
        return { contents: lines.join('\n'), loader: 'js' };
      });
    }
    const configCheck = (file, name, shape, options) =>
      onLoad({ filter: new RegExp(`/lib/cli/${file}\\.ts$`) }, async () => {
        const { SCHEMA } = await evaluate('lib/cli/config-schema.ts');
        return {
          contents: standaloneModule({ [name]: shape(SCHEMA) }, { ...options, strict: false }),
          loader: 'js',
          resolveDir: root,
        };
      });
    configCheck('config-acceptor', 'acceptsConfig', inParts, { messages: false, inlineRefs: false });
    configCheck('config-validator', 'checkConfig', (schema) => schema, { allErrors: true, verbose: true });
    onLoad({ filter: /\/lib\/tools\/compile\.ts$/ }, async () => {
      const { tools } = await evaluate('lib/tools/index.ts');
      const schemas = Object.fromEntries(tools.map(({ name, parameters }) => [name, parameters]));
      const names = Object.keys(schemas).join(', ');
      const contents = `${standaloneModule(schemas, { allErrors: true })}
const checks = { ${names} };
export const compile = async (tool) => checks[tool.name];`;
      return { contents, loader: 'js', resolveDir: root };
    });
  },
};

// CommonJS dependencies inside an ES module bundle need a `require` for Node's own modules, and nothing else is left to require.
const banner = `const require=name=>{const found=process.getBuiltinModule(name);if(found)return found;throw new Error("Cannot find module '"+name+"'")};`;

/** `a as b` of an import or export as it is written in an object: `a:b`, or `b:a` turned round. */
function renamed(names, isTurned = false) {
  const pairs = names.split(',').map((name) => name.split(' as '));
  return pairs.map(([from, to = from]) => (isTurned ? `${to}:${from}` : `${from}:${to}`)).join(',');
}

/**
 * Lets `hi.js` load the core at once. The bundler puts a shared part that is loaded on demand behind a file that only passes it on, and its own helpers
 * into a file of theirs: each a file more to find and read at every start. So each part has a copy of the helpers.
 */
function shortenStart({ outputs }) {
  const [door] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === relative(root, CORE)) ?? [];
  const found = /import\{(\w+) as (\w+)\}from"(\.\/[\w-]+\.js)";.*export\{\2 as run\}/s.exec(
    readFileSync(door, 'utf8'),
  );
  const program = join(root, 'dist', 'hi.js');
  const [, name, , core] = found ?? [];
  const [helpers, ...more] = Object.keys(outputs).filter(
    (file) => /\/chunk-\w+\.js$/.test(file) && Object.keys(outputs[file].inputs).length === 0,
  );
  const copy = /^.*\n([\s\S]*)export\{(.*)\};\s*$/.exec(readFileSync(helpers, 'utf8'));
  if (more.length > 0 || copy === null)
    throw new Error(`The bundler writes its helpers '${helpers}' in another way than before.`);
  const [, code, names] = copy;
  const imported = new RegExp(`(?<=^|;)import(?:\\{([^}]*)\\}from)?"\\./(?:chunks/)?${basename(helpers)}";`, 'gm');
  for (const file of Object.keys(outputs).filter((file) => file.endsWith('.js') && file !== helpers)) {
    const own = (_, taken) =>
      taken === undefined ? '' : `var {${renamed(taken)}}=(()=>{${code};return{${renamed(names, true)}}})();`;
    writeFileSync(file, readFileSync(file, 'utf8').replace(imported, own));
  }
  rmSync(helpers);
  const after = readFileSync(program, 'utf8').replace(
    `(await import("./chunks/${basename(door)}")).run(`,
    `(await import("./chunks/${basename(core)}")).${name}(`,
  );
  if (found === null || after.includes(basename(door)))
    throw new Error(`The bundler writes '${door}' in another way than before.`);
  writeFileSync(program, after);
  rmSync(door);
}

rmSync(join(root, 'dist'), { recursive: true, force: true });
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: { hi: 'bin/hi.ts' },
  outdir: 'dist',
  chunkNames: 'chunks/[name]-[hash]',
  define,
  bundle: true,
  splitting: true,
  minify: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.17',
  external: ['zstd-napi'],
  plugins: [nodeModules, onlyCalled, copied, atBuildTime, atHand, oneCore],
  banner: { js: banner },
  legalComments: 'linked',
  logLevel: 'warning',
  metafile: true,
});
shortenStart(metafile);
chmodSync(join(root, 'dist', 'hi.js'), 0o755);
writeFileSync(join(root, 'dist', 'hi.1'), (await evaluate('lib/cli/manual.ts')).MANUAL);
