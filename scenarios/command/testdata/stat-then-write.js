const fs = require('fs');
if (fs.existsSync('app.lock')) process.exit(1);
fs.writeFileSync('app.lock', String(process.pid));
fs.mkdirSync('cs');
fs.rmdirSync('cs');
fs.unlinkSync('app.lock');
