# SPDX-License-Identifier: MIT
# gen.py FOLDER SHAPES [NAME]: wrong and right MPI programs, made from the standard: each case of cases.py in each shape
# (plain, dup, split, loop) and for several numbers of ranks; with plain, those of programs.txt as they are. run.py BUILD FOLDER [PATTERN] compiles and runs them, with
# sends that wait and with buffered ones, and says which were missed, misnamed or accused.
import sys,random,os,re
# a case: name class ranks pair|all body ; lines W: wrong only, R: right only; '//!' marks a right line
CASES=[]
def case(text):
    head,body=text.strip('\n').split('\n',1)
    f=head.split()
    CASES.append(dict(name=f[0],cls=f[1].split('|'),n=[int(x) for x in f[2].split(',')],kind=f[3],opts=f[4:],body=body))
exec(open(os.path.join(os.path.dirname(os.path.abspath(__file__)),'cases.py')).read())

def lines_of(body,wrong):
    out=[]
    for l in body.split('\n'):
        s=l.lstrip()
        if s.startswith('W:'):
            if wrong: out.append(s[2:].strip())
        elif s.startswith('R:'):
            if not wrong: out.append(s[2:].strip())
        else: out.append(s)
    return out
PRE='''#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stddef.h>
'''
def program(c,wrong,shape):
    body=lines_of(c['body'],wrong)
    top=[l[4:].strip() for l in body if l.startswith('TOP:')]
    body=[l for l in body if not l.startswith('TOP:')]
    src=PRE.split('\n')+top
    ind='    '
    if c['kind']=='raw':
        src+=['int main(int argc, char **argv)','{']+[ind+l for l in body]+['}']
        return '\n'.join(src)+'\n'
    guard='if (rank < 2) ' if c['kind']=='pair' else ''
    src+=['static void work(MPI_Comm COMM, int rank, int size, int it)','{',ind+'int peer = 1 - rank, next = (rank + 1) % size, prev = (rank + size - 1) % size; (void)peer; (void)next; (void)prev; (void)it;']
    src+=[ind+guard+'{']+[ind*2+l for l in body]+[ind+'}','}']
    m=['int main(int argc, char **argv)','{',ind+'int rank, size;',ind+'MPI_Init(&argc, &argv);']
    comm='MPI_COMM_WORLD'
    if shape=='dup': m+=[ind+'MPI_Comm c;',ind+'MPI_Comm_dup(MPI_COMM_WORLD, &c);']; comm='c'
    if shape=='split': m+=[ind+'MPI_Comm c;',ind+'int wr; MPI_Comm_rank(MPI_COMM_WORLD, &wr);',ind+'MPI_Comm_split(MPI_COMM_WORLD, 0, -wr, &c);']; comm='c'
    m+=[ind+f'MPI_Comm_rank({comm}, &rank);',ind+f'MPI_Comm_size({comm}, &size);']
    if shape=='loop': m+=[ind+f'for (int i = 0; i < 3; i++) work({comm}, rank, size, i);']
    else: m+=[ind+f'work({comm}, rank, size, 0);']
    if shape in('dup','split'): m+=[ind+'MPI_Comm_free(&c);']
    m+=[ind+'MPI_Finalize();',ind+'return 0;','}']
    return '\n'.join(src+m)+'\n'
MAIN='int main(int argc, char **argv)\n{\n    int rank, size;\n    MPI_Init(&argc, &argv);\n    MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n    MPI_Comm_size(MPI_COMM_WORLD, &size);\n'
def whole(out,part):
    """The programs of programs.txt; how many."""
    text=open(os.path.join(os.path.dirname(os.path.abspath(__file__)),'programs.txt')).read()
    count=0
    for block in re.split(r'^=== ',text,flags=re.M)[1:]:
        head,body=block.split('\n',1)
        name,ranks,classes,*opts=head.split()
        if part not in name: continue
        strict=([o[7:] for o in opts if o.startswith('strict=')]+['-'])[0]
        top,_,rest=body.rpartition('---\n')
        src=PRE+top+(rest if 'raw' in opts else MAIN+''.join('    '+l+'\n' for l in rest.rstrip().split('\n'))+'    MPI_Finalize();\n    return 0;\n}\n')
        marks=','.join(str(i+1) for i,l in enumerate(src.split('\n')) if '//!' in l)
        open(f'{out}/{name}.c','w').write(src+f'//META {ranks}\t{classes}\t{strict}\t-\t{marks}\n'); count+=1
    return count
def main():
    out=sys.argv[1]; os.makedirs(out,exist_ok=True)
    shapes=(sys.argv[2] if len(sys.argv)>2 else 'plain,dup,split,loop').split(',')
    count=0
    for c in CASES:
        if len(sys.argv)>3 and sys.argv[3] not in c['name']: continue
        sh=['plain'] if c['kind']=='raw' or 'once' in c['opts'] else shapes
        for shape in sh:
            ns=c['n']
            if c['kind']=='pair' and shape!='plain': ns=[c['n'][0],3] if shape=='split' else [random.Random(c['name']+shape).choice([2,4])]
            if c['kind']=='all' and shape!='plain': ns=[random.Random(c['name']+shape).choice(c['n'])]
            for wrong in (True,False):
                if wrong and 'norw' in c['opts']: continue
                if not wrong and 'noright' in c['opts']: continue
                src=program(c,wrong,shape)
                for n in ns[:2]:
                    name=f"{c['name']}-{shape}-{n}-{'wrong' if wrong else 'right'}"
                    marks=[i+1 for i,l in enumerate(src.split('\n')) if '//!' in l]
                    strict=[o[7:] for o in c['opts'] if o.startswith('strict=')]
                    buf=[o[4:] for o in c['opts'] if o.startswith('buf=')]
                    meta=f"//META {n}\t{'|'.join(c['cls']) if wrong else 'none'}\t{strict[0] if strict and wrong else '-'}\t{buf[0] if buf and wrong else '-'}\t{','.join(map(str,marks))}\n"
                    open(f'{out}/{name}.c','w').write(src+meta); count+=1
    if 'plain' in shapes: count+=whole(out,sys.argv[3] if len(sys.argv)>3 else '')
    print(count,'programs')
main()
