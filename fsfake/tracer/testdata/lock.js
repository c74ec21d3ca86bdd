// A lock that looks before it writes, by synchronous calls.
const fs = require('fs')
if (fs.existsSync('lock')) process.exit(1)
fs.writeFileSync('lock', 'me')
fs.mkdirSync('cs'); fs.rmdirSync('cs')
fs.unlinkSync('lock')
console.log('done', fs.readdirSync('.'))
