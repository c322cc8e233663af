import { spawnSync } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect } from '@jest/globals';
import { attempt, bash, type Outcome } from '../support/attack.js';
import { itWhere } from '../support/where.js';

/** `HI_ECOSYSTEMS=1` runs all ten, which takes a minute; otherwise only what takes no second. */
const ALL = process.env.HI_ECOSYSTEMS !== undefined;
const WORKS = spawnSync('bwrap', ['--ro-bind', '/', '/', '--unshare-pid', '--unshare-net', 'true']).status === 0;

let outcome: Outcome | undefined;
afterEach(() => outcome?.home.remove());

/** A package of Python that builds itself, so that nothing has to be there before. */
const PYTHON = {
  'pkg/pyproject.toml':
    '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n[project]\nname = "greet"\nversion = "1.0"\n',
  'pkg/backend.py': `import zipfile
def build_wheel(folder, config_settings=None, metadata_directory=None):
    name, info = 'greet-1.0-py3-none-any.whl', 'greet-1.0.dist-info/'
    files = {'greet.py': 'print("works")', info + 'METADATA': 'Metadata-Version: 2.1\\nName: greet\\nVersion: 1.0\\n',
        info + 'WHEEL': 'Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n'}
    files[info + 'RECORD'] = ''.join(path + ',,\\n' for path in [*files, info + 'RECORD'])
    with zipfile.ZipFile(folder + '/' + name, 'w') as wheel:
        for path, text in files.items(): wheel.writestr(path, text)
    return name
`,
};

const NODE = {
  'package.json': '{"name":"a","scripts":{"test":"node test.js"},"dependencies":{"dep":"file:./dep"}}',
  'dep/package.json': '{"name":"dep","version":"1.0.0","main":"index.js"}',
  'dep/index.js': 'module.exports = "works";',
  'test.js': 'console.log(require("dep"));',
};

/**
 * Where package managers keep what they have downloaded. All of it is there, so that what cannot be written to is in
 * the way of one that wants to.
 */
const CACHES =
  '.npm/_cacache .local/share/pnpm .cache/pnpm .cargo/registry .cargo/git go/pkg/mod .cache/go-build .cache/pip .m2/repository .gradle/caches .gradle/wrapper';

/** Java asks the system for the home folder, not HOME. */
const JAVA_HOME_FOLDER = 'export MAVEN_OPTS=-Duser.home=$HOME GRADLE_OPTS=-Duser.home=$HOME;';

interface Ecosystem {
  readonly files: Readonly<Record<string, string>>;
  /** Installs, builds and tests; a program of the project prints `works`. */
  readonly command: string;
  readonly isFast?: true;
}

const ECOSYSTEMS: Readonly<Record<string, Ecosystem>> = {
  make: { files: { Makefile: 'all test:\n\t@echo works | tee made\n' }, command: 'make test', isFast: true },
  npm: { files: NODE, command: 'npm install --offline --no-audit && npm test' },
  pnpm: { files: NODE, command: 'pnpm install --offline && pnpm test' },
  cargo: {
    files: {
      'Cargo.toml':
        '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\ndep = { path = "dep" }\n',
      'src/main.rs':
        'fn main() { println!("{}", dep::text()); }\n#[test]\nfn tested() { assert_eq!(dep::text(), "works"); }\n',
      'dep/Cargo.toml': '[package]\nname = "dep"\nversion = "0.1.0"\nedition = "2021"\n',
      'dep/src/lib.rs': 'pub fn text() -> &\'static str { "works" }\n',
    },
    command: 'cargo test --offline && cargo run --offline',
  },
  go: {
    files: {
      'go.mod': 'module example.com/a\n\ngo 1.19\n',
      'main.go':
        'package main\n\nimport "fmt"\n\nfunc text() string { return "works" }\n\nfunc main() { fmt.Println(text()) }\n',
      'main_test.go':
        'package main\n\nimport "testing"\n\nfunc TestText(t *testing.T) {\n\tif text() != "works" {\n\t\tt.Fatal()\n\t}\n}\n',
    },
    command: 'go test ./... && go run .',
  },
  pip3: {
    files: PYTHON,
    command:
      'python3 -m venv .venv && .venv/bin/python -m pip install --no-index --no-build-isolation ./pkg && .venv/bin/python -m greet',
  },
  uv: {
    files: PYTHON,
    command: 'uv venv && uv pip install --offline --no-build-isolation ./pkg && .venv/bin/python -m greet',
  },
  mvn: {
    files: {
      'pom.xml':
        '<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>a</artifactId><version>1</version><packaging>pom</packaging></project>',
    },
    command: `${JAVA_HOME_FOLDER} mvn -o -B validate && echo works`,
  },
  gradle: {
    files: {
      'build.gradle':
        'apply plugin: "java"\ntask run(type: JavaExec, dependsOn: classes) { classpath sourceSets.main.runtimeClasspath; main "A" }\n',
      'src/main/java/A.java': 'class A { public static void main(String[] a) { System.out.println("works"); } }\n',
    },
    command: `${JAVA_HOME_FOLDER} gradle --offline --no-daemon build run`,
  },
  cmake: {
    files: {
      'CMakeLists.txt':
        'cmake_minimum_required(VERSION 3.10)\nproject(a C)\nenable_testing()\nadd_executable(a a.c)\nadd_test(a a)\n',
      'a.c': '#include <stdio.h>\nint main(void) { puts("works"); return 0; }\n',
    },
    command: 'cmake -B out && cmake --build out && (cd out && ctest) && out/a',
  },
};

describe('in the closed home, with a rule to write', () => {
  for (const [name, { files, command, isFast }] of Object.entries(ECOSYSTEMS)) {
    const isThere = spawnSync(name, ['--version'], { stdio: 'ignore' }).error === undefined;
    const missing = !WORKS
      ? 'bubblewrap cannot be used here'
      : isThere
        ? 'HI_ECOSYSTEMS is not set'
        : `there is no ${name}`;
    itWhere(WORKS && isThere && (ALL || isFast === true), missing)(
      `${name} builds and tests a project`,
      async () => {
        const env = { RUSTUP_HOME: process.env.RUSTUP_HOME ?? join(homedir(), '.rustup'), ...javaHome() };
        outcome = await attempt({
          allow: [{ rule: 'bash', write: true }],
          files,
          before: `cd ~ && mkdir -p ${CACHES}`,
          calls: [bash(command)],
          tools: { timeout_ms: 280_000 },
          options: { env },
        });
        expect(outcome.results[0]).toMatch(/works\\n.*"exit_code":0/);
      },
      300_000,
    );
  }
});

const javaHome = (): Record<string, string> =>
  process.env.JAVA_HOME === undefined ? {} : { JAVA_HOME: process.env.JAVA_HOME };
