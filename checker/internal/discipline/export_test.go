package discipline

// ProveFew is [Prove] with so many copies that are run one after the other.
var ProveFew = prove
