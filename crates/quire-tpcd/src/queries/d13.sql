-- TPC-D Q13: performance of a clerk, by year, in orders that were returned (parameter as for TPC-D's validation: clerk 88)
select o_year, sum(volume) as revenue
from (
    select extract(year from o_orderdate) as o_year, l_extendedprice * (1 - l_discount) as volume
    from lineitem, orders
    where o_orderkey = l_orderkey and o_clerk = 'Clerk#000000088' and l_returnflag = 'R'
) as lost
group by o_year
order by o_year;
