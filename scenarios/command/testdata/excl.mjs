import fs from 'fs/promises';
import { setTimeout } from 'timers/promises';
for (;;) {
  try { await (await fs.open('app.lock', 'wx')).close(); break; } catch (e) { if (e.code !== 'EEXIST') throw e; }
  await setTimeout(50);
}
await fs.mkdir('cs');
await fs.rmdir('cs');
await fs.unlink('app.lock');
