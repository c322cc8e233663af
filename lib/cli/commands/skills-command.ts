import { sizeText } from '../../chat/text.js';
import { DEFAULTS } from '../../config/built.js';
import { findPaths, sharedSkills } from '../../config/paths.js';
import { readConfig } from '../../config/read-config.js';
import { baseWindow } from '../../config/resolve.js';
import { DEFAULT_WINDOW } from '../../config/setting.js';
import { HistoryStore } from '../../history/store.js';
import { ProjectInstructions } from '../../memory/instructions.js';
import { neutralise } from '../../screen/text/neutralise.js';
import { openSkills } from '../../skills/index.js';
import { NO_OVERRIDES, type SkillLibrary } from '../../skills/skill.js';
import { colours, writeJson } from '../base/command-output.js';
import type { CommonOptions } from '../base/options.js';
import { CONFIG_CHECK, readSettings } from '../base/settings.js';
import type { World } from '../base/world.js';

interface SkillsCommandOptions extends CommonOptions {
  readonly json?: boolean;
}

/**
 * Lists the skills and what is wrong with any. With a name, shows that skill and why it is or is not sent. Throws a
 * `HiError` for an unknown name.
 */
export async function skillsCommand(
  world: World,
  name: string | undefined,
  options: SkillsCommandOptions,
): Promise<number> {
  const paths = await findPaths(world.env, options.config ?? null);
  if (name !== undefined) {
    // Whether all skills are sent depends on the model's window, which the list does not need.
    const { config } = await readSettings(world, options);
    const library = await findSkills(world, options, config === null ? undefined : baseWindow(config, config));
    const history = await HistoryStore.open({ folder: paths.data, now: world.now });
    const text = await library.explain(name, history.entries, NO_OVERRIDES);
    const skill = library.skills.find((one) => one.name === name);
    if (options.json) writeJson(world.stdout, { skill, text });
    else world.stdout.write(neutralise(text));
    await history.close();
    return 0;
  }
  const library = await findSkills(world, options);
  if (options.json) {
    writeJson(world.stdout, { skills: library.skills, warnings: library.warnings });
    return 0;
  }
  const colour = colours(world);
  const width = library.skills.reduce((widest, { name }) => Math.max(widest, name.length), 0);
  for (const { name, description, bytes } of library.skills) {
    world.stdout.write(
      `${colour.bold(neutralise(name).padEnd(width))}  ${neutralise(description)} ${colour.dim(`(${sizeText(bytes)})`)}\n`,
    );
  }
  for (const { path, reason } of library.warnings) world.stderr.write(neutralise(`skill ${path}: ${reason}\n`));
  if (library.absence !== null) world.stderr.write(`${library.absence}\n`);
  return 0;
}

/** The skills as a session finds them, by the configured rules where there are any. Asks no model. */
export async function findSkills(
  world: World,
  options: CommonOptions,
  context_window: number = DEFAULT_WINDOW,
): Promise<SkillLibrary> {
  const paths = await findPaths(world.env, options.config ?? null);
  const { file } = await readConfig(paths.configFile, CONFIG_CHECK, false);
  const mode = file?.project_instructions ?? DEFAULTS.project_instructions;
  const project = new ProjectInstructions({
    ...{ mode, cwd: world.cwd, home: world.home, answers: paths.instructions, ask: null },
  });
  await project.settle(new AbortController().signal);
  return await openSkills({
    folder: paths.skills,
    shared_folders: sharedSkills(world),
    project: project.skills,
    known_file: paths.knownSkills,
    ...DEFAULTS.skills,
    ...file?.skills,
    context_window,
    model: null,
    cache: { get: async () => null, put: async () => undefined },
  });
}
