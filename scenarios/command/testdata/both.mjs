// both.mjs [go]: shows data and says so, side by side; with go, only then lets others go.
import fs from 'fs/promises';
await Promise.all([fs.rename('tmp', 'data'), fs.mkdir('ready')]);
if (process.argv[2]) await fs.rename('ready', 'go');
