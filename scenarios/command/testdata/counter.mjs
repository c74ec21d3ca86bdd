import fs from 'fs/promises';
await fs.writeFile('n', String(Number(await fs.readFile('n', 'utf8')) + 1));
