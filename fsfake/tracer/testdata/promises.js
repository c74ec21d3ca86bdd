// Several calls at once, by promises; a timer; a random name.
const fs = require('fs').promises
const main = async () => {
  await Promise.all([1, 2, 3, 4, 5].map(i => fs.writeFile('f' + i, String(i))))
  const texts = await Promise.all([1, 2, 3].map(i => fs.readFile('f' + i, 'utf8')))
  console.log(texts.join())
  await new Promise(r => setTimeout(r, 50))
  const h = await fs.open('x', 'wx')
  await h.write('once'); await h.sync(); await h.close()
  await fs.open('x', 'wx').catch(e => console.log(e.code))
  await fs.rename('x', 'y')
  await fs.appendFile('y', '!')
  console.log((await fs.readdir('.')).sort().join())
}
main()
