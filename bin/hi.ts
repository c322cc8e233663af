#!/usr/bin/env node
import { main } from '../lib/cli/main.js';
import { realWorld } from '../lib/cli/world.js';

process.exitCode = await main(realWorld());
