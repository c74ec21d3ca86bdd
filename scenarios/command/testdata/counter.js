const fs = require('fs');
fs.writeFileSync('n', String(Number(fs.readFileSync('n', 'utf8')) + 1));
