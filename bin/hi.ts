#!/usr/bin/env node
import { realWorld } from '../lib/cli/base/world.js';
import { main } from '../lib/cli/main.js';

process.exitCode = await main(realWorld());
